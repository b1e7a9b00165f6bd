"""`python -m sightline`, as torchrun starts it."""

from sightline.cli import main

if __name__ == "__main__":
    main()
