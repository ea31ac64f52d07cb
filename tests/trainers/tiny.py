"""A tokenizer of bytes and a random model of some thousand parameters, made on the spot: nothing is downloaded."""

from __future__ import annotations

from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

PAD, END = "<|endoftext|>", "<|im_end|>"
SPECIAL = [PAD, "<|im_start|>", END]


def tokenizer(chat_template: str) -> PreTrainedTokenizerFast:
    """One token for each byte, and those that chat templates of Qwen write."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={letter: at for at, letter in enumerate(letters)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens(SPECIAL)
    made = PreTrainedTokenizerFast(tokenizer_object=inner, pad_token=PAD, eos_token=END)
    made.chat_template = chat_template
    return made


def model(words: PreTrainedTokenizerFast, positions: int = 8192) -> Qwen2ForCausalLM:
    """A decoder with random weights, the same in every run."""
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=len(words),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=positions,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
    )
    return Qwen2ForCausalLM(config)


def weights(of: Any) -> torch.Tensor:
    """All parameters in one vector, to see whether a step moved them."""
    return torch.cat([p.detach().flatten().clone() for p in of.parameters()])
