"""``python -m hone``: says which version this is and how to start."""

from . import __version__

print(
    f"""hone {__version__}, the Python client

Start a server:   hone serve                 (built by ./scripts/demo: build/release/hone serve)
Then, in Python:  import hone
                  with hone.connect("tcp://127.0.0.1:5917") as client:
                      start = client.reset("add_relu")
                      result = start.episode.step(source_of_a_kernel)
                      print(result.reward, result.observation["feedback"])

asyncio: hone.aio  many episodes: hone.vector  Gymnasium: hone.gym"""
)
