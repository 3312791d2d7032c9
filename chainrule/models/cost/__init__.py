"""What a model costs before it is trained: parameters, arithmetic, memory and seconds."""
