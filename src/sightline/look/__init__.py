"""What a model looks at: replay on a twin, readings, alignment, drawing."""
