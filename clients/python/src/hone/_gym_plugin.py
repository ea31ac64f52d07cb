"""Tells Gymnasium of hone's environments; found through the entry point ``gymnasium.envs``."""

ENV_ID = "hone/KernelRefine-v0"


def register() -> None:
    """Registers ``hone/KernelRefine-v0``; harmless when done twice.

    The environment is registered as nondeterministic: measured times vary within their noise.
    """
    from gymnasium.envs.registration import register, registry

    if ENV_ID not in registry:
        register(id=ENV_ID, entry_point="hone.gym:KernelRefineEnv", nondeterministic=True)
