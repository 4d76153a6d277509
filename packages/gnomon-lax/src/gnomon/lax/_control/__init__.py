"""Control flow: conditionals and loops whose bodies are traced once."""
