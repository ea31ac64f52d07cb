"""Adapters: one module for each trainer, which imports that trainer only when it is used.

docs/trainers says which one is yours. A fault of the machine is handed to each trainer in its own
words for *do not train on this*, never as a reward of 0.
"""

__all__: list[str] = []
