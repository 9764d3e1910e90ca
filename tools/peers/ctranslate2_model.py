#!/usr/bin/env python3
"""Builds a CTranslate2 model from a model of ours, to compare translations and speed.

    ctranslate2_model.py MODEL.safetensors FOLDER

Word-pieces are named by their numbers, so that no vocabulary is needed: "<unk>", "<s>", "</s>" and
"p17". Needs the packages ctranslate2, numpy and safetensors.
"""

import json
import math
import sys

import numpy as np
from ctranslate2.specs import common_spec, transformer_spec
from safetensors import safe_open

SPECIAL = {0: "<pad>", 1: "<unk>", 2: "<s>", 3: "</s>"}


def token(piece):
    return SPECIAL.get(piece, f"p{piece}")


def piece(name):
    return {text: number for number, text in SPECIAL.items()}.get(name) or int(name[1:])


def read_model(path):
    with safe_open(path, framework="numpy") as file:
        config = json.loads(file.metadata()["config"])["model"]
        return config, {name: file.get_tensor(name) for name in file.keys()}


def check(config):
    """CTranslate2 has no word for the rest."""
    wanted = {"norm": "layer", "feed_forward": "relu", "attention_bias": False}
    for key, value in wanted.items():
        if config[key] != value:
            sys.exit(f"model.{key}: {config[key]} cannot be compared; only {value}")
    if config["norm_placement"] not in ("post", "pre"):
        sys.exit(f"model.norm_placement: {config['norm_placement']} cannot be compared")
    if config["d_k"] != config["d_v"] or config["h"] * config["d_k"] != config["d_model"]:
        sys.exit("model.d_k, model.d_v: only d_model / h can be compared")
    if config["kv_heads"] != config["h"] or config["norm_epsilon"] > 1e-5:
        sys.exit("model.kv_heads must be model.h, and model.norm_epsilon small")
    if config["positions"] not in ("sinusoidal", "sinusoidal_concatenated", "learned"):
        sys.exit(f"model.positions: {config['positions']} cannot be compared")


def positions(config, weights, side, length=2048):
    """Section 3.5, as transformer/nn/positions.cpp has it."""
    if config["positions"] == "learned":
        return weights[f"{side}_positions.weight"]
    d_model = config["d_model"]
    rates = np.exp(np.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    angles = np.arange(length)[:, None] * rates
    pair = (np.sin(angles), np.cos(angles))
    if config["positions"] == "sinusoidal_concatenated":
        table = np.concatenate(pair, axis=1)
    else:
        table = np.stack(pair, axis=2).reshape(length, d_model)
    return table.astype(np.float32)


def set_norm(spec, weights, name):
    spec.gamma = weights[name + ".weight"]
    spec.beta = weights[name + ".bias"]


def set_linear(spec, weight, bias=None):
    spec.weight = weight
    spec.bias = bias if bias is not None else np.zeros(weight.shape[0], np.float32)


def set_attention(spec, weights, name, is_self):
    q, k, v, o = (weights[f"{name}.{part}.weight"] for part in "qkvo")
    if is_self:
        set_linear(spec.linear[0], np.concatenate((q, k, v)))
    else:
        set_linear(spec.linear[0], q)
        set_linear(spec.linear[1], np.concatenate((k, v)))
    set_linear(spec.linear[-1], o)
    set_norm(spec.layer_norm, weights, name + "_residual.norm")


def set_feed_forward(spec, weights, name):
    for linear, part in ((spec.linear_0, "in"), (spec.linear_1, "out")):
        set_linear(linear, weights[f"{name}.{part}.weight"], weights[f"{name}.{part}.bias"])
    set_norm(spec.layer_norm, weights, name + "_residual.norm")


def set_stack(spec, config, weights, side):
    tied = config["tie_embeddings"]
    name = {"encoder": "source", "decoder": "target"}[side]
    embeddings = spec.embeddings[0] if side == "encoder" else spec.embeddings
    embeddings.weight = weights["embedding.weight" if tied else f"{name}_embedding.weight"]
    spec.scale_embeddings = True  # by the square root of d_model
    spec.position_encodings.encodings = positions(config, weights, name)
    for i, layer in enumerate(spec.layer):
        prefix = f"{side}.layers.{i}."
        set_attention(layer.self_attention, weights, prefix + "self_attention", True)
        if side == "decoder":
            set_attention(layer.attention, weights, prefix + "cross_attention", False)
        set_feed_forward(layer.ffn, weights, prefix + "feed_forward")
    if config["norm_placement"] == "pre":
        set_norm(spec.layer_norm, weights, side + ".norm")


def build(path, folder):
    config, weights = read_model(path)
    check(config)
    spec = transformer_spec.TransformerSpec.from_config(
        config["N"],
        config["h"],
        pre_norm=config["norm_placement"] == "pre",
        activation=common_spec.Activation.RELU,
    )
    spec.config.layer_norm_epsilon = config["norm_epsilon"]
    spec.config.add_source_eos = False  # it is among our pieces
    spec.config.decoder_start_token = "<s>"
    spec.config.bos_token, spec.config.eos_token = "<s>", "</s>"
    spec.config.unk_token = "<unk>"
    set_stack(spec.encoder, config, weights, "encoder")
    set_stack(spec.decoder, config, weights, "decoder")
    output = "embedding.weight" if config["tie_embeddings"] else "output.weight"
    set_linear(spec.decoder.projection, weights[output])
    spec.register_source_vocabulary([token(i) for i in range(config["source_V"])])
    spec.register_target_vocabulary([token(i) for i in range(config["V"])])
    spec.validate()
    spec.optimize(quantization=None)
    spec.save(folder)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    import os

    os.makedirs(sys.argv[2], exist_ok=True)
    build(sys.argv[1], sys.argv[2])
