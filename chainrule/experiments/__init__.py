"""Many runs, one honest table: recipes trained under one budget and held against each other."""
