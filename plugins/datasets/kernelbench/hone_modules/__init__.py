"""Datasets of PyTorch modules: reading them, describing them without computing, and making tasks of them."""
