#!/usr/bin/env python3
"""The training step of `transformer bench train` in PyTorch, as a careful user writes it: nn.Transformer with its
fused attention, fused Adam, padding trimmed to the batch. Reads the same lengths file (a line "source target" a
sentence, end-of-sentence included) and prints one JSON line.

    python3 tools/peers/train_pytorch.py --lengths FILE --d_model 512 --N 6 ... [--compile]
"""
import argparse
import json
import math
import resource
import time

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.scale = math.sqrt(a.d_model)
        self.embedding = nn.Embedding(a.V, a.d_model)
        nn.init.normal_(self.embedding.weight, std=a.d_model**-0.5)
        self.transformer = nn.Transformer(a.d_model, a.h, a.N, a.N, a.d_ff, a.P_drop, batch_first=True, bias=True)
        self.transformer.encoder.norm = nn.Identity()  # Post-LN has none
        self.transformer.decoder.norm = nn.Identity()
        for module in self.transformer.modules():  # the paper drops no attention weights, nor inside feed-forward
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            if isinstance(module, (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)):
                module.dropout.p = 0.0
        self.drop = nn.Dropout(a.P_drop)
        position = torch.arange(1024).unsqueeze(1)
        angle = position * torch.exp(torch.arange(0, a.d_model, 2) * (-math.log(10000.0) / a.d_model))
        table = torch.zeros(1024, a.d_model)
        table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()
        self.register_buffer("table", table)

    def embed(self, ids):
        return self.drop(self.embedding(ids) * self.scale + self.table[: ids.size(1)])

    def forward(self, source, target):
        padding = source == 0
        causal = nn.Transformer.generate_square_subsequent_mask(target.size(1))
        hidden = self.transformer(
            self.embed(source), self.embed(target), tgt_mask=causal, src_key_padding_mask=padding,
            memory_key_padding_mask=padding, tgt_is_causal=True)
        return hidden @ self.embedding.weight.t()


def batch_of(lengths, V, generator):
    longest = [max(pair[side] for pair in lengths) for side in (0, 1)]
    ids = [torch.zeros(len(lengths), longest[side], dtype=torch.long) for side in (0, 1)]
    for row, pair in enumerate(lengths):
        for side in (0, 1):
            ids[side][row, : pair[side]] = torch.randint(4, V, (pair[side],), generator=generator)
    return ids


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lengths", required=True)
    for name, value in dict(N=6, d_model=512, d_ff=2048, h=8, V=37000, tokens=2000, steps=10, warmup=2, threads=2).items():
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--P_drop", type=float, default=0.1)
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--compile", action="store_true")
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(1)
    lengths = [tuple(map(int, line.split())) for line in open(a.lengths)]
    batches, batch = [], []
    for pair in lengths:  # in the file's order, as ours
        if batch and (len(batch) + 1) * max(max(p) for p in batch + [pair]) > a.tokens:
            batches.append(batch_of(batch, a.V, generator))
            batch = []
        batch.append(pair)
    batches.append(batch_of(batch, a.V, generator))
    model = Model(a)
    loss_of = nn.CrossEntropyLoss(ignore_index=0, label_smoothing=0.1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    step_model = torch.compile(model, dynamic=True) if a.compile else model
    times, tokens = [], []
    for step in range(a.warmup + a.steps):
        source, target = batches[step % len(batches)]
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=a.precision == "bfloat16"):
            logits = step_model(source, target)
            loss = loss_of(logits.flatten(0, 1), target.flatten())
        loss.backward()
        optimizer.step()
        times.append(time.perf_counter() - start)
        tokens.append(int((target != 0).sum()))
    times, tokens = times[a.warmup :], tokens[a.warmup :]
    print(json.dumps({
        "torch": torch.__version__, "threads": a.threads, "steps": a.steps,
        "seconds_minimum": min(times), "seconds_median": sorted(times)[len(times) // 2], "seconds_total": sum(times),
        "target_tokens_per_second": sum(tokens) / sum(times),
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


if __name__ == "__main__":
    main()
