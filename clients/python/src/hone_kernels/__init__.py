"""The plug-in ``hone-kernels`` of verifiers: ``vf-eval hone-kernels``."""

from hone.adapters.verifiers import HoneEnv, HoneHarness, HoneTaskset

__all__ = ["HoneEnv", "HoneHarness", "HoneTaskset"]
