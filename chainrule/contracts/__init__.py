"""What every part of a kind must keep, present or future: run by the tests on all of them, by a user on their own."""
