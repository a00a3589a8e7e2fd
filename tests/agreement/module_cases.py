"""The classes of `torch.nn` beside the inputs that they take, with each kind of mask, hidden state and packed
sequence."""

from typing import NamedTuple


class Case(NamedTuple):
    """makes: modules after `nn.`
    given: names bound to their inputs
    calls: what each is called with
    """

    makes: list[str]
    given: dict[str, str]
    calls: tuple[str, ...] = ("x",)


def x(shape: str) -> dict[str, str]:
    return {"x": f"torch.randn({shape}, requires_grad=True)"}


LINE, PLANE, SPACE = x("2, 4, 8"), x("2, 4, 6, 6"), x("1, 2, 4, 4, 4")
ACTIVATIONS = [
    *["CELU(0.5)", "ELU()", "GELU()", "GELU('tanh')", "GLU()", "Hardshrink(0.3)", "Hardsigmoid()", "Hardswish()"],
    *["Hardtanh(-0.5, 0.5)", "LeakyReLU(0.1)", "LogSigmoid()", "LogSoftmax(-1)", "Mish()", "PReLU()", "PReLU(4)"],
    *["RReLU()", "ReLU()", "ReLU6()", "SELU()", "SiLU()", "Sigmoid()", "Softmax(-1)", "Softmin(1)", "Softplus(2)"],
    *["Softshrink(0.3)", "Softsign()", "Tanh()", "Tanhshrink()", "Threshold(0.1, 20.0)"],
]
IN_PLACE = [
    *["CELU", "ELU", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "Mish", "RReLU", "ReLU", "ReLU6", "SELU"],
    *["SiLU", "AlphaDropout", "Dropout", "Dropout1d", "FeatureAlphaDropout"],
]
LINES = [
    *["AdaptiveAvgPool1d(3)", "AdaptiveMaxPool1d(3, return_indices=True)", "AvgPool1d(2, padding=1)"],
    *["AlphaDropout()", "BatchNorm1d(4)", "BatchNorm1d(4, momentum=None)", "BatchNorm1d(4, affine=False)"],
    *["BatchNorm1d(4, track_running_stats=False)", "CircularPad1d(2)", "ConstantPad1d(1, 0.5)", "Conv1d(4, 2, 3)"],
    *["Conv1d(4, 4, 3, padding='same', groups=2, padding_mode='circular')", "ConvTranspose1d(4, 3, 3, stride=2)"],
    *["DataParallel(nn.Linear(8, 2))", "Dropout(0.4)", "Dropout1d()", "FeatureAlphaDropout()", "Flatten()"],
    *["GroupNorm(2, 4)", "Identity()", "InstanceNorm1d(4)", "LPPool1d(2, 3)", "LayerNorm(8)", "Linear(8, 3)"],
    *["InstanceNorm1d(4, affine=True, track_running_stats=True)", "LayerNorm((4, 8), elementwise_affine=False)"],
    *["LazyBatchNorm1d()", "LazyConv1d(3, 3)", "LazyConvTranspose1d(3, 2)", "LazyInstanceNorm1d(affine=True)"],
    *["LazyLinear(3)", "Linear(8, 3, bias=False)", "LocalResponseNorm(2)", "MaxPool1d(2, return_indices=True)"],
    *["MaxPool1d(3, 2, dilation=2, ceil_mode=True)", "RMSNorm(8)", "ReflectionPad1d(2)", "ReplicationPad1d(2)"],
    *["Sequential(nn.Linear(8, 3), nn.Dropout(), nn.Tanh())", "SyncBatchNorm(4)", "Unflatten(2, (2, 4))"],
    *["Upsample(scale_factor=2, mode='linear')", "ZeroPad1d(1)"],
]
PLANES = [
    *["AdaptiveAvgPool2d(3)", "AdaptiveMaxPool2d((2, None), return_indices=True)", "AvgPool2d(2, ceil_mode=True)"],
    *["BatchNorm2d(4)", "ChannelShuffle(2)", "CircularPad2d(1)", "ConstantPad2d(1, 0.5)", "Conv2d(4, 3, 3)"],
    *[
        "Conv2d(4, 4, 3, stride=2, dilation=2, padding=2, groups=4)",
        "ConvTranspose2d(4, 2, 3, output_padding=1, stride=2)",
    ],
    *["CrossMapLRN2d(3)", "Dropout2d()", "FractionalMaxPool2d(2, output_ratio=0.5, return_indices=True)"],
    *["InstanceNorm2d(4, affine=True)", "LPPool2d(2, 2)", "LazyBatchNorm2d()", "LazyConv2d(2, 3)"],
    *["LazyConvTranspose2d(2, 2)", "LazyInstanceNorm2d(affine=True)", "MaxPool2d(2, return_indices=True)"],
    *["MaxPool2d(3, padding=1)", "PixelShuffle(2)", "PixelUnshuffle(2)", "ReflectionPad2d(1)", "ReplicationPad2d(1)"],
    *["Softmax2d()", "Unfold(2, stride=2)", "Upsample(scale_factor=1.5, mode='bicubic')", "ZeroPad2d(1)"],
    *["UpsamplingBilinear2d(scale_factor=2)", "UpsamplingNearest2d(size=4)"],
]
SPACES = [
    *["AdaptiveAvgPool3d(2)", "AdaptiveMaxPool3d(2, return_indices=True)", "AvgPool3d(2)", "BatchNorm3d(2)"],
    *["CircularPad3d(1)", "ConstantPad3d(1, 0.5)", "Conv3d(2, 3, 2)", "ConvTranspose3d(2, 2, 2)", "Dropout3d()"],
    *["FractionalMaxPool3d(2, output_size=2)", "InstanceNorm3d(2)", "LPPool3d(2, 2)", "LazyBatchNorm3d()"],
    *["LazyConv3d(2, 2)", "LazyConvTranspose3d(2, 2)", "LazyInstanceNorm3d(affine=True)", "ReflectionPad3d(1)"],
    *["MaxPool3d(2, return_indices=True)", "ReplicationPad3d(1)", "Upsample(scale_factor=2)", "ZeroPad3d(1)"],
]


def with_each_reduction(name: str, *more: str) -> list[str]:
    """A loss with each reduction, and with what else it takes."""
    return [
        f"{name}()",
        f"{name}(reduction='sum')",
        f"{name}(reduction='none')",
        *(f"{name}({argument})" for argument in more),
    ]


SCORES = x("3, 5")
SIGNS = "torch.tensor([1.0, -1.0, 1.0])"
PAIR = {**SCORES, "other": "torch.randn(3, 5, requires_grad=True)"}
SIGN_EACH = "torch.randn(3, 5).sign()"
LOSSES = [
    Case(
        [
            *with_each_reduction("CrossEntropyLoss", "torch.rand(5), ignore_index=0, label_smoothing=0.1"),
            *with_each_reduction("NLLLoss", "torch.rand(5), ignore_index=0"),
            *with_each_reduction("MultiMarginLoss", "p=2, margin=0.5"),
        ],
        {**SCORES, "target": "torch.tensor([1, 0, 4])"},
        ("x, target",),
    ),
    Case(["CrossEntropyLoss()"], {**SCORES, "target": "torch.rand(3, 5).softmax(1)"}, ("x, target",)),
    Case(
        ["CrossEntropyLoss()", "NLLLoss()", "NLLLoss2d()"],
        {**x("2, 3, 2, 2"), "target": "torch.tensor([[[0, 1], [2, 0]], [[1, 1], [2, 2]]])"},
        ("x, target",),
    ),
    Case(with_each_reduction("BCELoss"), {**SCORES, "target": "torch.rand(3, 5)"}, ("x.sigmoid(), target",)),
    Case(
        [
            *with_each_reduction("BCEWithLogitsLoss", "pos_weight=torch.rand(5)"),
            *with_each_reduction("HuberLoss", "delta=0.3"),
            *with_each_reduction("SmoothL1Loss", "beta=0.3"),
            *with_each_reduction("L1Loss"),
            *with_each_reduction("MSELoss"),
            *with_each_reduction("KLDivLoss", "reduction='batchmean', log_target=True"),
            *with_each_reduction("PoissonNLLLoss", "full=True, log_input=True"),
        ],
        {**SCORES, "target": "torch.rand(3, 5, requires_grad=True)"},
        ("x, target.detach()", "x, target"),
    ),
    Case(
        with_each_reduction("MultiLabelSoftMarginLoss"),
        {**SCORES, "target": "torch.randint(2, (3, 5)).float()"},
        ("x, target",),
    ),
    Case(
        with_each_reduction("GaussianNLLLoss", "full=True"),
        {**PAIR, "var": "torch.rand(3, 5, requires_grad=True)"},
        ("x, other, var",),
    ),
    Case(
        [*with_each_reduction("HingeEmbeddingLoss"), *with_each_reduction("SoftMarginLoss")],
        {**SCORES, "y": SIGN_EACH},
        ("x, y",),
    ),
    Case(with_each_reduction("MarginRankingLoss", "0.5"), {**PAIR, "y": SIGN_EACH}, ("x, other, y",)),
    Case(with_each_reduction("CosineEmbeddingLoss", "0.5"), {**PAIR, "y": SIGNS}, ("x, other, y",)),
    Case(
        with_each_reduction("MultiLabelMarginLoss"),
        {**SCORES, "target": "torch.tensor([[3, 0, -1, 0, 1], [4, -1, 0, 0, 0], [-1, 0, 0, 0, 0]])"},
        ("x, target",),
    ),
    Case(
        [
            *with_each_reduction("TripletMarginLoss", "swap=True, p=1"),
            *with_each_reduction(
                "TripletMarginWithDistanceLoss", "distance_function=lambda a, b: (a - b).abs().amax(-1)"
            ),
        ],
        {**PAIR, "third": "torch.randn(3, 5, requires_grad=True)"},
        ("x, other, third",),
    ),
    Case(
        with_each_reduction("CTCLoss", "blank=4, zero_infinity=True"),
        {**x("6, 2, 5"), "target": "torch.tensor([[1, 2, 3], [3, 1, 1]])"},
        (
            "x.log_softmax(2), target, torch.tensor([6, 5]), torch.tensor([3, 2])",
            "x.log_softmax(2), target, (6, 6), (2, 3)",
        ),
    ),
    Case(
        [
            *["LinearCrossEntropyLoss(5, 4)", "LinearCrossEntropyLoss(5, 4, bias=True, label_smoothing=0.1)"],
            *["LinearCrossEntropyLoss(5, 4, reduction='sum')", "LinearCrossEntropyLoss(5, 4, options=None)"],
        ],
        {**SCORES, "target": "torch.tensor([1, 0, 3])"},
        ("x, target",),
    ),
    Case(
        ["AdaptiveLogSoftmaxWithLoss(5, 10, [4, 7])"],
        {**SCORES, "target": "torch.tensor([1, 5, 9])"},
        ("x, target",),
    ),
]

INDICES = {"index": "torch.tensor([[1, 2, 0], [4, 2, 2]])"}
LOOKUPS = [
    Case(
        [
            *["Embedding(6, 3)", "Embedding(6, 3, padding_idx=0)", "Embedding(6, 3, sparse=True)"],
            *["Embedding(6, 3, max_norm=1.0)", "Embedding(6, 3, scale_grad_by_freq=True)"],
        ],
        INDICES,
        ("index",),
    ),
    Case(
        ["EmbeddingBag(6, 3)", "EmbeddingBag(6, 3, mode='max')", "EmbeddingBag(6, 3, padding_idx=2)"],
        INDICES,
        ("index", "index.flatten(), torch.tensor([0, 4])"),
    ),
    Case(
        ["EmbeddingBag(6, 3, mode='sum')", "EmbeddingBag(6, 3, mode='sum', sparse=True)"],
        {**INDICES, "weights": "torch.rand(2, 3, requires_grad=True)"},
        ("index", "index, None, weights"),
    ),
    Case(["Bilinear(3, 4, 2)"], {**x("2, 3"), "other": "torch.randn(2, 4, requires_grad=True)"}, ("x, other",)),
    Case(["CosineSimilarity()", "PairwiseDistance()", "PairwiseDistance(1, keepdim=True)"], PAIR, ("x, other",)),
    Case(["Fold((3, 4), 2)"], x("1, 8, 6")),
    *(
        Case(
            [f"MaxUnpool{n}d(2)"],
            given,
            (f"*F.max_pool{n}d(x, 2, return_indices=True)", f"*F.max_pool{n}d(x, 2, return_indices=True), x.shape"),
        )
        for n, given in ((1, LINE), (2, PLANE), (3, SPACE))
    ),
]

STEPS = x("3, 3, 3")
PACKED = "pack_padded_sequence(x, [3, 1, 2], batch_first=True, enforce_sorted=False)"
DEEP = "num_layers=2, dropout=0.3, bidirectional=True, batch_first=True"
HIDDEN = "torch.randn({layers}, 3, 4, requires_grad=True)"
RECURRENT = [
    *(
        Case(
            [f"{name}(3, 4, {kwargs}batch_first=True)"], {**STEPS, "h": HIDDEN.format(layers=1)}, ("x", "x, h", PACKED)
        )
        for name, kwargs in (("RNN", ""), ("RNN", "nonlinearity='relu', bias=False, "), ("GRU", ""))
    ),
    *(
        Case([f"{name}(3, 4, {DEEP})"], {**STEPS, "h": HIDDEN.format(layers=4)}, ("x", f"{PACKED}, h"))
        for name in ("RNN", "GRU")
    ),
    *(
        Case(
            [f"LSTM(3, 4, {kwargs})"],
            {**STEPS, "h": HIDDEN.format(layers=layers), "c": HIDDEN.format(layers=layers)},
            calls,
        )
        for kwargs, layers, calls in (
            ("batch_first=True", 1, ("x", "x, (h, c)", PACKED, "x[0]")),
            (DEEP, 4, ("x", f"{PACKED}, (h, c)")),
        )
    ),
    Case(["LSTM(3, 4, proj_size=2, batch_first=True)"], STEPS, ("x", PACKED)),
    Case(
        ["RNNCell(3, 4)", "RNNCell(3, 4, nonlinearity='relu')", "GRUCell(3, 4)", "GRUCell(3, 4, bias=False)"],
        {**x("3, 3"), "h": "torch.randn(3, 4, requires_grad=True)"},
        ("x", "x, h", "x[0], h[0]"),
    ),
    Case(
        ["LSTMCell(3, 4)"],
        {**x("3, 3"), **dict.fromkeys("hc", "torch.randn(3, 4, requires_grad=True)")},
        ("x", "x, (h, c)"),
    ),
]

WORDS = {
    **x("2, 3, 8"),
    "pad": "torch.tensor([[False, False, True], [False, False, False]])",
    "causal": "nn.Transformer.generate_square_subsequent_mask(3)",
    "after": "torch.ones(3, 3, dtype=torch.bool).triu(1)",
}
TWO = {
    **WORDS,
    "memory": "torch.randn(2, 4, 8, requires_grad=True)",
    "blank": "torch.tensor([[False, False, True, True], [False, False, False, False]])",
    "near": "torch.ones(3, 4, dtype=torch.bool).triu(2)",
}
SELF = "x, x, x"
LAYER = "nn.TransformerEncoderLayer(8, 2, 16, batch_first=True{more})"
ENCODED = (
    *("x", "x, causal", "x, after", "x, causal, is_causal=True", "x, after, pad"),
    "x, src_key_padding_mask=pad",
)
DECODED = (
    *("x, memory", "x, memory, causal", "x, memory, causal, tgt_is_causal=True", "x, memory, after, near"),
    "x, memory, tgt_key_padding_mask=pad, memory_key_padding_mask=blank",
    "x, memory, after, near, pad, blank",
)
ATTENTION = [
    Case(
        ["MultiheadAttention(8, 2, batch_first=True)"],
        WORDS,
        (
            *(SELF, f"{SELF}, need_weights=False", f"{SELF}, pad", f"{SELF}, attn_mask=causal"),
            *(f"{SELF}, pad, False, after", f"{SELF}, pad, average_attn_weights=False"),
            f"{SELF}, attn_mask=after.expand(4, 3, 3)",
            f"{SELF}, need_weights=False, attn_mask=after, is_causal=True",
        ),
    ),
    Case(
        ["MultiheadAttention(8, 2, batch_first=True, add_bias_kv=True, add_zero_attn=True, dropout=0.2)"],
        WORDS,
        (SELF, f"{SELF}, pad, False, after"),
    ),
    Case(
        ["MultiheadAttention(8, 2, batch_first=True, kdim=4, vdim=6, bias=False)"],
        {
            **WORDS,
            "key": "torch.randn(2, 3, 4, requires_grad=True)",
            "value": "torch.randn(2, 3, 6, requires_grad=True)",
        },
        ("x, key, value", "x, key, value, pad"),
    ),
    Case(
        [
            "TransformerEncoderLayer(8, 2, 16, batch_first=True)",
            "TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True, activation='gelu')",
        ],
        WORDS,
        ENCODED,
    ),
    Case(
        [
            f"TransformerEncoder({LAYER.format(more='')}, 2)",
        ],
        WORDS,
        ENCODED,
    ),
    Case(
        [f"TransformerEncoder({LAYER.format(more=', bias=False')}, 1, nn.LayerNorm(8), enable_nested_tensor=False)"],
        WORDS,
        ("x", "x, after, pad"),
    ),
    Case(
        [
            "TransformerDecoderLayer(8, 2, 16, batch_first=True)",
            "TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, batch_first=True, norm_first=True), 1)",
        ],
        TWO,
        DECODED,
    ),
    Case(
        ["Transformer(8, 2, 1, 1, 16, batch_first=True)"],
        TWO,
        (
            *("memory, x", "memory, x, tgt_mask=causal, tgt_is_causal=True"),
            "memory, x, None, after, near, src_key_padding_mask=blank, tgt_key_padding_mask=pad",
        ),
    ),
]
CASES = [
    Case(ACTIVATIONS, LINE),
    Case([f"{name}(inplace=True)" for name in IN_PLACE], LINE, ("x * 1",)),
    Case(["Threshold(0.1, 20.0, inplace=True)"], LINE, ("x * 1",)),
    Case(["Dropout2d(inplace=True)", "Dropout3d(inplace=True)"], SPACE, ("x * 1",)),
    *(Case(makes, given) for makes, given in ((LINES, LINE), (PLANES, PLANE), (SPACES, SPACE))),
    *(*LOSSES, *LOOKUPS, *RECURRENT, *ATTENTION),
]
