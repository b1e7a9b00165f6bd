"""Text in, text out: lines of files, pieces of words, sentences. Nothing here knows of tensors."""
