"""Edits that follow the sentence after "do" of a finding, by kind and variant, where no fix is offered that does."""

Edits = tuple[tuple[str, str], ...]

BY_HAND: dict[str, tuple[str, Edits]] = {
    "activation_twice.rows": (
        "silent/probabilities_mixed_before_cross_entropy",
        (("cross_entropy(mixed, y)", "nll_loss(mixed.log(), y)"),),
    ),
    "axes_confused.norm": (
        "silent/gradient_penalty_of_each_step",
        (("vector_norm(slope, dim=2)", "vector_norm(slope.flatten(1), dim=1)"),),
    ),
    "axes_confused.row": (
        "silent/one_row_of_positions_for_all",
        (("positions[seq_len]", "positions[:seq_len]"),),
    ),
    "axes_confused.channels": (
        "silent/batch_norm_over_the_positions",
        (("norm(hidden)", "norm(hidden.transpose(1, 2)).transpose(1, 2)"),),
    ),
    "eval_missing.taken_back": ("silent/eval_taken_back_before_the_forward", (("            net.train()\n", ""),)),
    "load_matched_nothing.left_out": (
        "silent/table_outside_of_the_state_dict",
        (("self.table = torch.randn(2, 4)", 'self.register_buffer("table", torch.randn(2, 4))'),),
    ),
    "rate_jumps.state_left": (
        "silent/optimizer_made_after_its_state",
        (
            (
                "adam.load_state_dict(saved)\nadam = torch.optim.Adam([w], lr=0.1)\n",
                "adam = torch.optim.Adam([w], lr=0.1)\nadam.load_state_dict(saved)\n",
            ),
        ),
    ),
    "activation_twice.again": (
        "silent/softmax_of_a_softmax",
        (("    weights = torch.softmax(router, dim=1)\n", ""), ("(weights.unsqueeze", "(router.unsqueeze")),
    ),
    "advantage_with_history": (
        "silent/gaussian_policy_trains_its_critic",
        (("-(td_error *", "-(td_error.detach() *"),),
    ),
    "loss_times_mask.all_axes": ("silent/kl_summed_before_its_mask", (("log_var.exp())", "log_var.exp(), dim=-1)"),)),
    "loss_times_mask.own": (
        "silent/focal_weight_of_the_mean",
        (
            ("logits(scores, labels)", 'logits(scores, labels, reduction="none")'),
            ("return (1 - pt) ** gamma * ce_loss", "return ((1 - pt) ** gamma * ce_loss).mean()"),
        ),
    ),
    "relu_before_loss.log_softmax": ("silent/policy_of_relu_scores", (("F.relu(self.last(x))", "self.last(x)"),)),
    "result_unused.function": ("silent/auxiliary_loss_thrown_away", (("    AddLoss", "    weights = AddLoss"),)),
    "result_unused.overwritten": (
        "silent/dropout_that_is_overwritten",
        (("            dropped = F", "            hidden = F"),),
    ),
    "shape_mismatch.flattened": ("silent/argmax_of_the_whole_matrix", (("argmax()", "argmax(dim=1)"),)),
    "shape_mismatch.paired": (
        "silent/log_probs_column_times_row",
        (("gather(1, labels)", "gather(1, labels).squeeze(-1)"),),
    ),
    "term_moves_nothing.untrained": (
        "silent/teacher_compared_with_itself",
        (("log_softmax(wanted", "log_softmax(scores"),),
    ),
    "activation_twice": ("silent/softmax_before_cross_entropy", ((", torch.nn.Softmax(dim=1))", ")"),)),
    "attention_weights.after_softmax": (
        "silent/attention_masked_after_softmax",
        (
            ("        att = F.softmax(att, dim=-1)\n", ""),
            (
                "pad[:, None, None, :], 0)\n",
                "pad[:, None, None, :], float('-inf'))\n        att = F.softmax(att, dim=-1)\n",
            ),
        ),
    ),
    "attention_weights.filled_weights": (
        "silent/attention_filled_after_softmax",
        (
            ("    weights = scores.softmax(dim=-1)\n", ""),
            (
                "weights = weights.masked_fill(~keep[:, None, :], -1e9)",
                "weights = scores.masked_fill(~keep[:, None, :], -1e9).softmax(dim=-1)",
            ),
        ),
    ),
    "attention_weights.future": ("silent/attention_sees_one_ahead", ((", diagonal=1)", ")"),)),
    "attention_weights.inverted": ("silent/attention_mask_the_wrong_way_round", (("mask=keep", "mask=~keep"),)),
    "attention_weights.later": (
        "silent/attention_sees_the_future_alone",
        (("attn_mask=self.mask[:T, :T]", "is_causal=True"),),
    ),
    "attention_weights.no_effect": (
        "silent/attention_filled_with_next_to_nothing",
        (("1e-9", "float('-inf')"),),
    ),
    "attention_weights.queries": ("silent/attention_padding_added_to_queries", (("[:, :, None]", "[:, None, :]"),)),
    "axes_confused.classes": (
        "silent/classes_behind_the_time",
        (("(scores, tags)", "(scores.transpose(1, 2), tags)"),),
    ),
    "axes_confused.positions": (
        "silent/positions_along_the_batch",
        (("self.pe[:x.size(0)]", "self.pe[:x.size(1)].transpose(0, 1)"),),
    ),
    "axes_confused.rows": (
        "silent/rows_of_a_loss_in_two_orders",
        (("tags.view(-1)", "tags.transpose(0, 1).reshape(-1)"),),
    ),
    "loss_times_mask": ("silent/padding_mask_on_a_mean", (("((pred - y) ** 2).mean()", "(pred - y) ** 2"),)),
    "samples_mixed.mean": (
        "silent/dueling_mean_over_the_batch",
        (("advantage.mean()", "advantage.mean(dim=1, keepdim=True)"),),
    ),
    "samples_mixed.attended_own": (
        "silent/own_attention_along_the_batch",
        ((".transpose(0, 1)", ""), ("mixed.mean(0)", "mixed.mean(1)")),
    ),
    "view_swaps_axes.mixed_classes": (
        "silent/pixels_flattened_with_classes",
        (("out.view(-1, 5)", "out.permute(0, 2, 3, 1).reshape(-1, 5)"),),
    ),
    "view_swaps_axes.mixed_features": (
        "silent/heads_joined_without_transpose",
        (("z.contiguous().view(", "z.transpose(1, 2).reshape("),),
    ),
    "view_swaps_axes.mixed_summed": (
        "silent/heads_split_without_transpose",
        tuple(
            (f"self.{name}(x).view(B, 2, T, 4)", f"self.{name}(x).view(B, T, 2, 4).transpose(1, 2)") for name in "qkv"
        ),
    ),
    "backward_not_derivative.ignores_incoming": (
        "silent/function_saved_written_in_forward",
        (("        mask.mul_(0)\n", ""), ("return g * mask", "return g * (mask + mask * (1 - mask))")),
    ),
    "backward_not_derivative.second": (
        "silent/function_saves_what_it_computed",
        (("save_for_backward(grown)", "save_for_backward(x)"), ("grad * grown", "grad * grown.exp()")),
    ),
    "backward_not_derivative.slope": ("silent/function_forgets_a_factor", (("x ** 2", "3 * x ** 2"),)),
    "custom_function.once": (
        "findings/custom_once_differentiable",
        (("    @function.once_differentiable  # cause\n", ""),),
    ),
    "custom_function.shape": ("findings/custom_shape", (("g[:1]", "g.expand(3, 2)"),)),
    "detached_late": (
        "silent/detached_after_use",
        (("c = b.sum()\nb.detach_()\n", "b.detach_()\nc = b.sum() + a.sum()\n"),),
    ),
    "eval_dropout_active.attention": (
        "silent/eval_attention_dropout",
        (("dropout_p=0.2", "dropout_p=0.2 if self.training else 0.0"),),
    ),
    "eval_dropout_active.made": (
        "silent/eval_dropout_made_in_forward",
        (
            ("self.fc = nn.Linear(8, 2)", "self.fc, self.drop = nn.Linear(8, 2), nn.Dropout(0.4)"),
            ("nn.Dropout(0.4)(torch", "self.drop(torch"),
        ),
    ),
    "eval_dropout_active.unregistered": (
        "silent/eval_does_not_reach_a_list",
        (("[nn.Dropout(0.5), nn.Dropout(0.5)]", "nn.ModuleList([nn.Dropout(0.5), nn.Dropout(0.5)])"),),
    ),
    "frozen_optimizer": (
        "silent/discriminator_never_unfrozen",
        (("d.requires_grad_(False)\n", "d.requires_grad_(True)\n"),),
    ),
    "frozen_updated.undone": (
        "silent/frozen_then_set_to_train",
        (('freeze(net["embed"])\nnet.requires_grad_(True)', 'net.requires_grad_(True)\nfreeze(net["embed"])'),),
    ),
    "grad_none.before_backward": (
        "silent/before_backward",
        (("    print(model.weight.grad)\n", ""), ("backward()\n", "backward()\n    print(model.weight.grad)\n")),
    ),
    "grad_none.cut_dtype": ("silent/argmax_step", (("logits.argmax(1).float()", "logits.max(1).values"),)),
    "grad_none.cut_several": (
        "silent/two_cuts_beside_each_other",
        (("guess = head(features.detach())", "guess = head(features)"),),
    ),
    "grad_none.cut_straight_through": (
        "silent/straight_through_output_in_the_codebook_loss",
        (("mse_loss(z_q, z_e.detach())", "mse_loss(z, z_e.detach())"),),
    ),
    "grad_none.in_optimizer": (
        "silent/layer_that_forward_forgets",
        (("self.first(torch.relu", "self.second(torch.relu"),),
    ),
    "grad_none.unused": ("silent/wrong_module_called", (("self.used(x)", "self.used(x) + self.unused(x)"),)),
    "gradients_dropped.rest": (
        "silent/last_micro_batches_of_an_epoch",
        (("k % 2 == 1", "k % 2 == 1 or k == len(batches) - 1"),),
    ),
    "hook_result": ("findings/hook_result_size", (("lambda g: g.sum()", "lambda g: g * 2"),)),
    "index_copy.gradient": (
        "silent/index_put_of_repeated_indices",
        (("table[where] = rows", "table = table.index_add(0, where, rows)"),),
    ),
    "index_copy.lost_read": (
        "silent/weight_norm_before_the_weights",
        (("weight_norm(nn.Linear(3, 4))", "nn.Linear(3, 4)"), ("init_weights)", "init_weights); weight_norm(net[0])")),
    ),
    "index_out_of_range.classes": (
        "findings/index_out_of_range_classes",
        (("torch.randn(4, 3, req", "torch.randn(4, 4, req"),),
    ),
    "index_out_of_range.dimension": ("findings/index_out_of_range_gather", (("[3]]", "[2]]"),)),
    "index_out_of_range.embedding": ("findings/index_out_of_range_embedding", (("(10, 3)", "(11, 3)"),)),
    "integer_wrapped.cut": (
        "silent/weights_cast_like_the_ids",
        (("weights.to(ids.dtype)", "weights.to(torch.float32)"),),
    ),
    "layer_made_each_forward": (
        "silent/conv_made_in_each_call",
        (
            ("self.inner = nn.Conv1d(1, 2, 3)", "self.inner, self.outer = nn.Conv1d(1, 2, 3), nn.Conv1d(2, 1, 1)"),
            ("        outer = nn.Conv1d(2, 1, 1)\n        return outer(", "        return self.outer("),
        ),
    ),
    "load_matched_nothing.keys": (
        "silent/load_of_the_whole_checkpoint",
        (("(checkpoint, strict=False)", '(checkpoint["state_dict"])'),),
    ),
    "load_matched_nothing.overwritten": (
        "silent/weights_initialised_after_the_load",
        (("net.load_state_dict(checkpoint)\nnet.apply(reset)", "net.apply(reset)\nnet.load_state_dict(checkpoint)"),),
    ),
    "load_matched_nothing.own_state": (
        "silent/target_loads_its_own_state",
        (("load_state_dict(ema_critic.", "load_state_dict(critic."),),
    ),
    "load_matched_nothing.shared_part": (
        "silent/target_shares_its_body",
        (
            ("import torch\nfrom", "import copy\nimport torch\nfrom"),
            ("student, teacher = Head(body), Head(body)", "student = Head(body)\nteacher = copy.deepcopy(student)"),
        ),
    ),
    "load_matched_nothing.untied": ("silent/load_assign_unties", ((", assign=True", ""),)),
    "loss_below_zero.scores": (
        "silent/nll_of_scores",
        (("nll_loss(scores, y)", "nll_loss(scores.log_softmax(1), y)"),),
    ),
    "loss_below_zero.targets": ("silent/labels_of_minus_one", ((".sign()", ".sign()\nlabels = (labels + 1) / 2"),)),
    "mean_of_means": (
        "silent/mean_of_unequal_batches",
        (("loss.item()\n", "loss.item() * len(x)\n"), ("total / len(loader)", "total / len(data)")),
    ),
    "memory_held.cycle": (
        "silent/objects_keep_each_other",
        (("import torch\n", "import torch, weakref\n"), ("self.owner = owner", "self.owner = weakref.ref(owner)")),
    ),
    "memory_held.hook": (
        "silent/hook_keeps_its_tensor",
        (("    y.register", "    shape = y.shape\n    y.register"), ("print(y.shape)", "print(shape)")),
    ),
    "memory_held.own_gradient": (
        "silent/gradient_graphs_keep_their_leaves",
        (
            ("    (w ** 3).sum().backward(create_graph=True)\n", ""),
            ("w.grad.pow", "torch.autograd.grad((w ** 3).sum(), w, create_graph=True)[0].pow"),
        ),
    ),
    "no_graph.constant": (
        "findings/no_graph_slope_of_a_line",
        (
            (
                "torch.autograd.grad(first, x, create_graph=True)",
                "torch.autograd.grad(first + 0 * x, x, create_graph=True, allow_unused=True, materialize_grads=True)",
            ),
        ),
    ),
    "no_graph.number": (
        "findings/no_graph_mean_of_items",
        (("append(loss.item())", "append(loss)"), ("np.mean(losses)", "torch.stack(losses).mean()")),
    ),
    "no_graph.own_backward": ("findings/no_graph_own_backward", (("x.detach() ** 2", "x ** 2"),)),
    "no_graph.plain_number": ("findings/no_graph_loss_that_stayed_a_number", (("[0] > 4", "[0] > 2"),)),
    "nonfinite.diverged": ("silent/lr", (("0.1 * w.grad", "0.001 * w.grad"),)),
    "nonfinite.empty": (
        "silent/mean_of_an_empty_mask",
        (("[errors > 1000].mean()", "[errors > 1000].sum() / max(1, int((errors > 1000).sum()))"),),
    ),
    "nonfinite.ignored": (
        "silent/batch_of_ignored_targets",
        ((", labels)\n", ', labels, reduction="sum") / max(1, int((labels >= 0).sum()))\n'),),
    ),
    "nonfinite.overflow": (
        "silent/squares_too_large_for_half",
        (("dtype=torch.float16) ** 2", "dtype=torch.float16).float() ** 2"),),
    ),
    "nonfinite.single": ("silent/std_of_one_element", ((".std()", ".std(correction=0).clamp(min=1e-6)"),)),
    "nonfinite.zero_times_infinite": ("silent/softplus_by_hand", (("torch.exp(x)", "torch.exp(x.clamp(max=20))"),)),
    "parameter_detached.data": (
        "silent/tied_by_clone",
        (
            (
                "        self.decoder.weight.data = self",
                "        with torch.no_grad():\n            self.decoder.weight.copy_(self",
            ),
            ("weight.data.t()\n", "weight.t())\n"),
        ),
    ),
    "parameter_detached.made_anew": (
        "silent/copy_adapted_in_each_round",
        (
            ("    fast = copy.deepcopy(learner)\n", "    own = dict(learner.named_parameters())\n"),
            ("(fast(x) - y)", "(learner(x) - y)"),
            (
                "    for p, g in zip(fast.parameters(), torch.autograd.grad(support, list(fast.parameters()))):\n"
                "        p.data -= 0.1 * g\n",
                "    slopes = torch.autograd.grad(support, list(own.values()), create_graph=True)\n"
                "    fast = {name: p - 0.1 * g for (name, p), g in zip(own.items(), slopes)}\n",
            ),
            ("(fast(torch.randn(4, 2)) - y)", "(torch.func.functional_call(learner, fast, (torch.randn(4, 2),)) - y)"),
        ),
    ),
    "not_in_optimizer.average": (
        "silent/target_that_backward_goes_through",
        (("1), nn.Linear(3, 1)\n", "1), nn.Linear(3, 1)\ntarget.requires_grad_(False)\n"),),
    ),
    "result_unused.context": (
        "silent/no_grad_on_its_own_line",
        (("torch.no_grad()\nfeatures", "with torch.no_grad():\n    features"),),
    ),
    "result_unused.grad": (
        "silent/gradients_returned_to_nobody",
        (("torch.autograd.grad(loss, net.parameters())", "loss.backward()"),),
    ),
    "scheduler_first.replaced": (
        "silent/schedule_of_the_first_optimizer",
        (
            (
                "optimizer = torch.optim.Adam(net.parameters(), lr=0.01)\n",
                "optimizer = torch.optim.Adam(net.parameters(), lr=0.01)\n"
                "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)\n",
            ),
        ),
    ),
    "shape_mismatch.one_value": (
        "findings/shape_mismatch_one_value_per_channel",
        (("torch.ones(1, 4)", "torch.ones(2, 4)"),),
    ),
    "shape_mismatch.squeezed": ("findings/shape_squeezed_batch_of_one", (("x.squeeze()", "x.flatten(1)"),)),
    "shared_memory.argument": ("silent/dense_block_with_inplace_start", (("inplace=True", "inplace=False"),)),
    "shared_memory.parameters": (
        "silent/tied_by_a_second_parameter",
        (
            ("decoder.weight = nn.Parameter(encoder.weight.t())\n", ""),
            ("[*encoder.parameters(), *decoder.parameters()]", "encoder.parameters()"),
            (
                "(decoder(torch.tanh(encoder(x))) - x)",
                "(nn.functional.linear(torch.tanh(encoder(x)), encoder.weight.t()) - x)",
            ),
        ),
    ),
    "shared_memory.arrays": (
        "silent/rows_of_an_array_scaled_in_a_dataset",
        (("values = self.table[k]", "values = self.table[k].copy()"),),
    ),
    "shared_memory.views": ("silent/mutated_batch_in_dataset", (("for row in data:", "for row in data.clone():"),)),
    "term_moves_nothing.dtype": (
        "silent/term_accuracy_in_loss",
        (("(scores.argmax(1) != y).float().mean()", "(1 - scores.softmax(1)[torch.arange(10), y]).mean()"),),
    ),
    "unexplained_error.ambiguous": ("findings/unexplained_condition_of_a_mask", (("if over:", "if over.any():"),)),
    "unexplained_error.any": (
        "silent/assertion_after_a_cut",
        (("torch.relu(self.a(x)).detach()", "torch.relu(self.a(x))"),),
    ),
    "unexplained_error.batched": (
        "findings/unexplained_vmap_decides",
        (
            (
                "    if total > 0:  # cause\n        return x * 2\n    return x\n",
                "    return torch.where(total > 0, x * 2, x)\n",
            ),
        ),
    ),
    "unexplained_error.dim_range": (
        "findings/unexplained_dimension_dropped_by_mean",
        (("mean(0)", "mean(0, keepdim=True)"),),
    ),
    "unexplained_error.dtype": ("findings/unexplained_gradient_of_another_dtype", ((".double()", ""),)),
    "unexplained_error.empty": (
        "findings/unexplained_no_value_left",
        (("best = kept.item()", "best = kept.item() if kept.numel() else None"),),
    ),
    "unexplained_error.layout": ("findings/unexplained_sparse_gradient_in_adam", ((", sparse=True", ""),)),
    "unexplained_error.multi_target": (
        "findings/unexplained_column_of_targets",
        (("loss = ", "labels = labels.squeeze(1)\nloss = "),),
    ),
    "unexplained_error.not_positive": (
        "findings/unexplained_not_positive_definite",
        (("x.T @ x - torch.eye(3)", "x.T @ x + 0.01 * torch.eye(3)"),),
    ),
    "unexplained_error.recorded": ("findings/unexplained_resize_of_recorded", (("x.clone()", "x.detach().clone()"),)),
    "unexplained_error.shape": (
        "findings/unexplained_mask_of_another_shape",
        (("torch.ones(3, d", "torch.ones(4, d"),),
    ),
    "unexplained_error.state_dict": (
        "findings/unexplained_state_dict_of_another_size",
        (("Linear(4, 2)", "Linear(3, 2)"),),
    ),
    "zero_gradient.cancels": ("silent/entropy_of_own_sample", (("policy.rsample()", "policy.rsample().detach()"),)),
    "zero_gradient.constant_sum": (
        "silent/softmax_sum",
        (("torch.softmax(x, 0).sum()", "torch.log_softmax(x, 0)[0]"),),
    ),
    "zero_gradient.one_class": ("silent/ce_single_logit", (("nn.Linear(3, 1)", "nn.Linear(3, 2)"),)),
    "zero_gradient.one_score": ("silent/attention_over_one_score", (("softmax(-1)", "softmax(1)"),)),
    "zero_gradient.reverse_state": (
        "silent/reverse_state_at_the_last_word",
        (("head(states[rows, lengths - 1])", "head(torch.cat((h_n[-2], h_n[-1]), dim=-1))"),),
    ),
    "zero_gradient.saturated": ("silent/clamp", (("w.clamp", "(w / 8).clamp"),)),
    "graph_grows.history": (
        "silent/recurrent_states_in_a_buffer",
        (
            ("((obs, hidden))", "((obs, hidden.detach()))"),
            ("hidden = cell(obs, hidden)", "hidden = cell(obs, hidden.detach())"),
        ),
    ),
    "hooks_pile_up": (
        "silent/hook_in_a_function_of_a_loop",
        (
            (
                "    kept = [",
                "    handle = net[0].register_forward_hook(lambda m, i, o: seen.append(o.mean().item()))\n    kept = [",
            ),
            ("    net[0].register_forward_hook(lambda m, i, o: seen.append(o.mean().item()))\n", ""),
            ("    return kept", "    handle.remove()\n    return kept"),
        ),
    ),
    "result_unused.terms": (
        "silent/penalty_of_the_last_parameter",
        (
            ("        penalty = 0.01", "        penalty = penalty + 0.01"),
            ("    for parameter", "    penalty = 0\n    for parameter"),
        ),
    ),
    "loss_below_zero.above": (
        "silent/ctc_of_scores",
        (("ctc_loss(scores", "ctc_loss(scores.log_softmax(-1)"),),
    ),
    "compared_with_itself.one": (
        "silent/smaller_of_one_critic",
        (("torch.min(q1, q1)", "torch.min(q1, q2)"),),
    ),
    "shape_mismatch.widened": (
        "silent/target_of_each_action",
        (("rewards - 0.2 * log_prob", "rewards - 0.2 * log_prob.sum(-1, keepdim=True)"),),
    ),
    "compared_with_itself.twins": (
        "silent/anchor_compared_with_itself",
        (("positive = net(a)", "positive = net(p)"),),
    ),
    "padding_takes_part.mean": (
        "silent/mean_over_the_padding",
        (
            (
                "    pooled = embed(tokens).mean(dim=1)\n",
                "    kept = (tokens != 0).unsqueeze(-1)\n    pooled = (embed(tokens) * kept).sum(1) / kept.sum(1)\n",
            ),
        ),
    ),
    "padding_takes_part.last": (
        "silent/last_position_of_padded_texts",
        (("states[-1]", "states[(tokens != 0).sum(0) - 1, torch.arange(4)]"),),
    ),
    "padding_takes_part.state": (
        "silent/last_state_of_padded_texts",
        (
            (
                "self.cell(self.embed(tokens))",
                "self.cell(nn.utils.rnn.pack_padded_sequence("
                "self.embed(tokens), (tokens != 0).sum(1), batch_first=True))",
            ),
        ),
    ),
    "rate_jumps.cosine": ("silent/cosine_shorter_than_the_training", (("T_max=epochs", "T_max=12"),)),
    "layers_start_equal.units": (
        "silent/weights_of_one_constant",
        (("nn.init.constant_(layer.weight, 0.1)", "nn.init.xavier_uniform_(layer.weight)"),),
    ),
    "eval_trains": (
        "silent/validation_trains_too",
        (
            ("            loss.backward()\n", '            if phase == "train":\n                loss.backward()\n'),
            ("            opt.step()\n", '            if phase == "train":\n                opt.step()\n'),
        ),
    ),
    "result_unused.mask": (
        "silent/padding_mask_never_applied",
        (("(scores.softmax", '(scores.masked_fill(mask, float("-inf")).softmax'),),
    ),
    "result_unused.mask_given": (
        "silent/mask_given_for_nothing",
        (("scores.softmax", "(scores + mask).softmax"),),
    ),
    "batch_part_unread": (
        "silent/weight_of_a_sample_unread",
        ((".pow(2).mean()", ".pow(2).mul(weight).mean()"),),
    ),
    "compared_with_itself": (
        "silent/old_policy_computed_in_every_epoch",
        (
            ("    old = log_probs().detach()\n", ""),
            ("for epoch", "old = log_probs().detach()\nfor epoch"),
        ),
    ),
    "layers_start_equal": (
        "silent/critics_copied_from_one",
        (("optimizer =", "nn.init.xavier_uniform_(second.weight)\noptimizer ="),),
    ),
    "load_matched_nothing.in_forward": (
        "silent/statistics_fitted_again_after_the_load",
        (
            ("self.fitted = False", 'self.register_buffer("fitted", torch.tensor(False))'),
            ("self.fitted = True", "self.fitted.fill_(True)"),
        ),
    ),
    "rate_jumps": (
        "silent/scheduler_made_in_every_epoch",
        (
            ("    schedule = LambdaLR(optimizer, lambda k: 0.5**k)\n", ""),
            ("for epoch", "schedule = LambdaLR(optimizer, lambda k: 0.5**k)\nfor epoch"),
        ),
    ),
    "rate_jumps.anew": (
        "silent/optimizer_made_in_every_step",
        (
            ("    optimizer = torch.optim.Adam([w], lr=0.1)\n", ""),
            ("for step", "optimizer = torch.optim.Adam([w], lr=0.1)\nfor step"),
        ),
    ),
    "rate_jumps.squared": (
        "silent/schedule_returns_the_rate_itself",
        (("return base_rate if epoch < 4 else base_rate * 0.5", "return 1.0 if epoch < 4 else 0.5"),),
    ),
    "rate_jumps.loaded": (
        "silent/scheduler_made_after_the_load",
        (
            (
                "optimizer.load_state_dict(saved)\nschedule = LambdaLR(optimizer, decay)\n",
                "schedule = LambdaLR(optimizer, decay)\noptimizer.load_state_dict(saved)\n"
                "schedule.load_state_dict(counted)\n",
            ),
        ),
    ),
    "nothing_moves.rate": (
        "silent/learning_rate_of_an_integer_division",
        (("epoch // 10", "min(1.0, (epoch + 1) / 10)"),),
    ),
    "nothing_moves.rounded": (
        "silent/weights_in_bfloat16",
        ((").bfloat16()\n", ")\n"), ("    loss = net(x)", "    with torch.autocast('cpu'):\n        loss = net(x)")),
    ),
    "nothing_moves.tiny": ("silent/learning_rate_too_small_to_see", (("lr=1e-10", "lr=1e-3"),)),
    "same_numbers": (
        "silent/noise_with_a_generator_made_in_the_loop",
        (
            ("    generator = torch.Generator().manual_seed(7)\n", ""),
            ("for step", "generator = torch.Generator().manual_seed(7)\nfor step"),
        ),
    ),
    "same_numbers.pass": (
        "silent/seed_at_the_start_of_each_epoch",
        (("    torch.manual_seed(1234)\n", ""), ("\nnet =", "\ntorch.manual_seed(1234)\nnet =")),
    ),
    "stale_copy": (
        "silent/half_copy_before_the_loop",
        (("low = weight.bfloat16()\n", ""), ("    loss =", "    low = weight.bfloat16()\n    loss =")),
    ),
    "stale_copy.autocast": (
        "silent/discriminator_in_one_autocast_block",
        (
            ('context = torch.autocast("cpu", dtype=torch.bfloat16)\n', ""),
            ("with context:\n    ", ""),
            ("        loss = ", '    with torch.autocast("cpu", dtype=torch.bfloat16):\n        loss = '),
            ("        optimizer.zero_grad()", "    optimizer.zero_grad()"),
            ("        loss.backward()", "    loss.backward()"),
            ("        optimizer.step()", "    optimizer.step()"),
        ),
    ),
    "statistics_never_fed": (
        "silent/soft_update_leaves_statistics",
        ((" * t.data)\n", " * t.data)\n    for p, t in zip(net.buffers(), target.buffers()):\n        t.copy_(p)\n"),),
    ),
}
"""The program of tests/examples, and what is written in place of what."""

OFFERED: dict[str, str] = {
    "accumulation_undivided": "silent/micro_batches_not_divided",
    "backward_twice.again": "findings/backward_twice_grad",
    "backward_twice.carried": "findings/backward_twice_hidden_state",
    "backward_twice.computed_once": "findings/backward_twice_normalise_param",
    "backward_twice.kept": "findings/backward_twice_terms_never_emptied",
    "backward_twice.shared": "findings/backward_twice_shared",
    "backward_twice.walked_in": "findings/backward_twice_gan_fake_not_detached",
    "caught_error": "silent/every_batch_skipped",
    "clip_after_step": "silent/clip_value_after_step",
    "clip_while_scaled": "silent/clip_scaled_gradients",
    "clip_while_scaled.step": "silent/step_of_scaled_gradients",
    "clip_without_gradient": "silent/clip_before_backward",
    "clip_without_gradient.used_up": "silent/clip_of_what_the_optimizer_took",
    "custom_function.count": "findings/custom_count",
    "custom_function.hook": "findings/custom_hook_inplace",
    "custom_function.legacy": "findings/custom_function_legacy_function",
    "custom_function.mark_dirty": "silent/write_after_save_in_forward",
    "custom_function.not_applied": "findings/custom_function_custom_relu_inplace",
    "custom_function.saved_written": "silent/function_saved_written_in_forward",
    "deepcopy_nonleaf": "findings/deepcopy_result",
    "deepcopy_nonleaf.inside": "findings/deepcopy_module",
    "dtype_mismatch": "findings/dtype_matmul",
    "dtype_mismatch.alone": "findings/dtype_mean",
    "eval_dropout_active": "silent/eval_feature_dropout_2d",
    "attention_weights.axis": "silent/attention_softmax_along_the_queries",
    "eval_missing": "silent/eval_missing_dropout",
    "eval_missing.not_called": "silent/eval_without_parentheses",
    "eval_never_left": "silent/eval_left_batch_norm",
    "expanded_inplace": "findings/expanded_add",
    "frozen_norm_moves": "silent/frozen_backbone_of_a_class",
    "frozen_updated": "silent/frozen_by_flag",
    "grad_accumulated.of_another": "silent/discriminator_keeps_gradients_of_the_generator",
    "grad_accumulated.read": "silent/grad_ref",
    "grad_accumulated.read_loop": "silent/accumulate_no_zero",
    "grad_accumulated.used": "silent/discriminator_grads_accumulate",
    "grad_accumulated.used_loop": "silent/no_zero",
    "grad_none.cut_checkpoint": "silent/checkpoint_function",
    "grad_none.cut_copy": "silent/tensor_of_tensor",
    "grad_none.cut_detach": "silent/inner_loop_maml",
    "grad_none.cut_item": "silent/item_in_loss",
    "grad_none.cut_no_grad": "silent/norm_of_grads_unused_layer",
    "grad_none.moved_from_leaf": "silent/style_input_clone",
    "grad_none.not_leaf": "silent/hidden_grad",
    "grad_none.not_required": "silent/set_requires_grad_typo",
    "grad_none.optimizer_given": "findings/grad_none_nonleaf_to_optimizer",
    "grad_none.required_late": "silent/requires_grad_after_forward",
    "grad_none.reset": "silent/zero_grad_between",
    "gradients_dropped": "silent/micro_batches_cleared_by_the_module",
    "gradients_dropped.before_step": "silent/zeros_before_the_step",
    "graph_grows.carried": "silent/retain_hidden",
    "graph_grows.evaluated": "silent/outputs_of_eval_kept",
    "graph_grows.listed": "silent/list_losses",
    "graph_grows.never_walked": "silent/losses_of_validation_added_up",
    "graph_grows.summed": "silent/ema_loss",
    "graph_grows.unused": "silent/outputs_of_test_kept_after_training",
    "hook_keeps_last": "silent/hook_of_a_module_used_twice",
    "hook_keeps_last.late": "silent/hooks_defined_in_a_loop",
    "hook_misses.forward_called": "silent/forward_called_directly",
    "hook_misses.left_behind": "silent/inplace_after",
    "hook_misses.too_late": "silent/hook_after_backward",
    "index_copy.lost": "silent/chained",
    "index_copy.lost_op": "silent/take_rows_then_zero",
    "index_copy.repeated": "silent/hist",
    "inference_tensor": "findings/inference_saved",
    "int_requires_grad": "findings/int_requires_grad_later",
    "integer_wrapped": "silent/images_subtracted_as_bytes",
    "layer_repeated": "silent/blocks_of_one_layer",
    "leaf_inplace": "findings/leaf_inplace_plus",
    "leaf_view_inplace": "findings/leaf_view_row",
    "load_matched_nothing.prefix": "silent/load_of_a_wrapped_checkpoint",
    "loss_below_zero.probabilities": "silent/nll_of_probabilities",
    "loss_of_last_batch": "silent/backward_outside_the_loop",
    "memory_held.ctx_output": "silent/ctx_keeps_output",
    "memory_held.view": "silent/list",
    "module_flag": "silent/children_frozen_by_a_flag",
    "module_flag.copied_groups": "silent/rate_in_copied_groups",
    "module_flag.defaults": "silent/weight_decay_in_the_defaults",
    "module_flag.flag_over_method": "silent/method_overwritten_by_a_flag",
    "module_flag.last_group": "silent/rate_behind_the_loop_over_groups",
    "module_flag.misspelled": "silent/layer_not_trainable",
    "module_flag.misspelled_true": "silent/set_requires_grad_typo",
    "module_flag.optimizer": "silent/learning_rate_set_on_the_optimizer",
    "multi_view_inplace": "findings/multi_view_chunk",
    "no_grad_view_inplace": "findings/no_grad_view_function",
    "no_graph.checkpoint": "findings/no_graph_checkpoint_inplace",
    "no_graph.create_graph": "findings/no_graph_weight_norm_wgan_gp",
    "no_graph.data": "findings/no_graph_data",
    "no_graph.detach": "findings/no_graph_detach",
    "no_graph.dtype": "findings/no_graph_compare",
    "no_graph.frozen": "findings/no_graph_frozen",
    "no_graph.grad_mode": "findings/no_graph_grad_mode",
    "no_graph.item": "findings/no_graph_item",
    "no_graph.late": "findings/no_graph_required_too_late",
    "no_graph.never": "findings/no_graph_forgotten",
    "no_graph.no_grad": "findings/no_graph_no_grad",
    "no_graph.numpy": "findings/no_graph_numpy",
    "no_step": "silent/step_without_parentheses",
    "nonfinite.backward": "silent/lpips_normalise",
    "nonfinite.backward_infinite": "silent/sqrt_zero",
    "nonfinite.branch": "silent/where_div",
    "nonfinite.branch_slope": "silent/where_zero_div",
    "nonfinite.forward": "silent/div_zero",
    "nonfinite.forward_operand": "silent/log_zero",
    "nonfinite.infinite_then_nan": "silent/norm",
    "not_contiguous": "findings/not_contiguous_permute",
    "not_in_optimizer": "silent/decoder_forgotten",
    "not_in_optimizer.before": "silent/encoder_forgotten",
    "not_in_optimizer.twice": "silent/both_optimizers_hold_the_discriminator",
    "not_in_optimizer.unfrozen": "silent/unfrozen_after_the_optimizer",
    "not_scalar": "findings/not_scalar_grad",
    "numpy_requires_grad": "findings/numpy_array",
    "padding_row": "silent/padding_row_initialised",
    "parameter_detached.alias": "silent/average_loaded_by_name_only",
    "parameter_detached.computed_tensor": "silent/param_times",
    "parameter_detached.exhausted": "findings/parameter_detached_parameters_counted_first",
    "parameter_detached.not_given": "silent/model_recreated",
    "parameter_detached.others_given": "silent/optimizer_with_copied_list",
    "parameter_detached.plain_container": "silent/layers_dict",
    "parameter_detached.plain_tensor": "silent/plain_tensor",
    "parameter_detached.rebound": "silent/loop_rebinds_param",
    "parameter_detached.replaced": "silent/new_parameter",
    "result_unused.comparison": "silent/frozen_by_a_comparison",
    "result_unused.detach": "silent/hidden_detached_for_nothing",
    "result_unused.method": "silent/masked_fill_for_nothing",
    "result_unused.not_called": "silent/eval_without_parentheses",
    "same_module.frozen": "silent/teacher_that_freezes_its_student",
    "same_module.list": "silent/second_name_in_a_list",
    "same_module.module": "silent/second_name_in_a_method",
    "same_module.state_dict": "silent/best_weights",
    "samples_mixed": "silent/softmax_layer_over_the_batch",
    "samples_mixed.attended": "silent/attention_layer_takes_the_batch_for_positions",
    "samples_mixed.attention": "silent/attention_weights_over_the_batch",
    "samples_mixed.sequence": "silent/lstm_takes_the_batch_for_time",
    "saved_detached": "findings/saved_detached_product",
    "saved_overwritten": "findings/saved_overwritten_out",
    "saved_overwritten.beside": "findings/saved_overwritten_beside",
    "saved_overwritten.buffer": "findings/saved_overwritten_running_mean",
    "saved_overwritten.carried": "findings/saved_overwritten_state_into_segment",
    "saved_overwritten.module": "findings/saved_overwritten_module",
    "saved_overwritten.optimizer": "findings/saved_overwritten_gan",
    "scheduler_first": "silent/scheduler_before_the_optimizer",
    "scheduler_first.vanished": "silent/rate_that_falls_with_every_batch",
    "shape_mismatch": "findings/shape_conv",
    "shape_mismatch.compared": "silent/votes_compared_with_a_column",
    "shape_mismatch.linear": "findings/shape_linear",
    "shape_mismatch.table": "silent/mse_broadcasts_in_silence",
    "shared_group": "silent/group_of_two_optimizers",
    "shared_memory.base": "silent/reshape",
    "shared_memory.container": "silent/params_copy",
    "shared_memory.detached": "silent/detach",
    "shared_memory.grad": "silent/grad_ref",
    "shared_memory.grad_written": "silent/grad_zeroed_under_a_name",
    "shared_memory.module": "silent/features",
    "shared_memory.numpy": "silent/from_numpy",
    "shared_memory.overlap": "silent/subtract_first_column",
    "shared_memory.overlap_refused": "findings/shared_memory_deltas_of_series",
    "shared_memory.same_list": "silent/same_dict_in_the_log",
    "shared_memory.same_tensor": "silent/alias",
    "shared_memory.shallow_copy": "silent/shallow_copy_best",
    "shared_memory.stored": "silent/list_times",
    "shared_memory.view": "silent/transpose",
    "target_with_history": "silent/target_bootstrapped_by_hand",
    "term_moves_nothing.create_graph": "silent/term_penalty_without_create_graph",
    "term_moves_nothing.left": "silent/term_as_a_number",
    "term_moves_nothing.no_grad": "silent/term_under_no_grad",
    "term_moves_nothing.others": "silent/adversarial_term_on_detached_fakes",
    "term_moves_nothing.sampled": "silent/latent_code_drawn_by_sample",
    "unused_input": "findings/unused_cut",
    "unused_input.part": "findings/unused_slice",
    "view_swaps_axes": "silent/images_viewed_instead_of_permuted",
    "view_swaps_axes.mixed_sequence": "silent/channels_viewed_as_last_for_a_gru",
    "view_swaps_axes.final_states": "silent/last_states_of_two_layers_viewed",
    "wrong_gradient": "silent/numpy",
    "wrong_gradient.context": "silent/ctx_attribute_overwritten",
    "zero_gradient.relu": "silent/dead_relu",
    "zero_gradient.relu_died": "silent/relus_died_after_a_step",
    "zero_gradient.step": "silent/round",
}
"""Programs of tests/examples for which a fix is offered: its edit follows the sentence."""

OWN_PROGRAMS: dict[str, tuple[str, Edits]] = {
    "never_equal": (
        "net, x, y = nn.Linear(4, 3), torch.randn(12, 4), torch.randint(0, 3, (12,))\n"
        "scores = net(x)\n"
        "right = (torch.softmax(scores, 1)[:, 0] == y).sum()\n"
        "nn.functional.cross_entropy(scores, y).backward()\n",
        (("torch.softmax(scores, 1)[:, 0]", "scores.argmax(1)"),),
    ),
    "never_equal.largest": (
        "net, x, y = nn.Linear(4, 3), torch.randn(12, 4), torch.randint(0, 3, (12,))\n"
        "best, _ = net(x).max(1)\n"
        "print((best == y).sum().item())\n",
        (("best, _ =", "_, best ="),),
    ),
    "logit_as_probability": (
        "net, x, y = nn.Linear(4, 1), torch.randn(40, 4), torch.randint(0, 2, (40, 1)).float()\n"
        "score = net(x)\n"
        "nn.functional.binary_cross_entropy_with_logits(score, y).backward()\n"
        "print(((score > 0.5) == y.bool()).sum().item())\n",
        (("score > 0.5", "score > 0"),),
    ),
    "reverse_unread": (
        "rnn, head = nn.LSTM(4, 6, batch_first=True, bidirectional=True), nn.Linear(12, 3)\n"
        "x, y = torch.randn(8, 5, 4), torch.randint(3, (8,))\n"
        "opt = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)\n"
        "for _ in range(3):\n"
        "    out, (h_n, c_n) = rnn(x)\n"
        "    opt.zero_grad()\n"
        "    nn.functional.cross_entropy(head(out[:, -1]), y).backward()\n"
        "    opt.step()\n",
        (("head(out[:, -1])", "head(torch.cat((h_n[-2], h_n[-1]), dim=-1))"),),
    ),
    "softmax_of_one": (
        "score, x, y = nn.Linear(4, 1), torch.randn(8, 5, 4), torch.randn(8, 4)\n"
        "opt = torch.optim.SGD(score.parameters(), lr=0.1)\n"
        "for _ in range(4):\n"
        "    opt.zero_grad()\n"
        "    scores = score(x)\n"
        "    ((scores.softmax(dim=-1) * x).sum(1) + scores.mean() - y).pow(2).mean().backward()\n"
        "    opt.step()\n",
        (("softmax(dim=-1)", "softmax(dim=1)"),),
    ),
    "linear_twice": (
        "net, x, y = nn.Sequential(nn.Linear(3, 6), nn.Linear(6, 1)), torch.randn(8, 3), torch.randn(8, 1)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for _ in range(4):\n"
        "    opt.zero_grad()\n"
        "    nn.functional.mse_loss(net(x), y).backward()\n"
        "    opt.step()\n",
        (("nn.Linear(3, 6), ", "nn.Linear(3, 6), nn.ReLU(), "),),
    ),
    "uninitialized": (
        "gain = torch.empty(4, requires_grad=True)\n(torch.randn(3, 4) * gain).sum().backward()\n",
        (("torch.empty(4", "torch.randn(4"),),
    ),
    "batches_of_one_class": (
        "x, y = torch.randn(24, 2), torch.arange(2).repeat_interleave(12)\n"
        "net = nn.Linear(2, 2)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for k in range(0, 24, 6):\n"
        "    opt.zero_grad()\n"
        "    nn.functional.cross_entropy(net(x[k : k + 6]), y[k : k + 6]).backward()\n"
        "    opt.step()\n",
        (("net = nn", "order = torch.randperm(24)\nx, y = x[order], y[order]\nnet = nn"),),
    ),
    "saturated": (
        "into, out = nn.Linear(3, 6), nn.Linear(6, 1)\n"
        "opt = torch.optim.SGD([*into.parameters(), *out.parameters()], lr=0.05)\n"
        "x = 400 * torch.rand(16, 3) - 200\n"
        "for _ in range(4):\n"
        "    opt.zero_grad()\n"
        "    out(torch.sigmoid(into(x))).pow(2).mean().backward()\n"
        "    opt.step()\n",
        (("torch.rand(16, 3) - 200", "torch.rand(16, 3) - 200\nx = (x - x.mean()) / x.std()"),),
    ),
    "iterator_begins_again": (
        "from torch.utils.data import DataLoader, TensorDataset\n"
        "batches = DataLoader(TensorDataset(torch.randn(24, 3), torch.randn(24, 1)), batch_size=6)\n"
        "net = nn.Linear(3, 1)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for _ in range(4):\n"
        "    x, y = next(iter(batches))\n"
        "    opt.zero_grad()\n"
        "    nn.functional.mse_loss(net(x), y).backward()\n"
        "    opt.step()\n",
        (("for _ in range(4):\n    x, y = next(iter(batches))", "for x, y in batches:"),),
    ),
    "nonfinite.removed_late": (
        "net, x, y = nn.Linear(3, 1), torch.randn(8, 3), torch.randn(8, 1)\n"
        "y[2] = float('nan')\n"
        "gap = (net(x) - y).pow(2)\n"
        "gap[~gap.isnan()].mean().backward()\n",
        (("y[2] = float('nan')", "y[2] = 0.0"),),
    ),
    "nonfinite.diverging": (
        "w = torch.zeros(3, requires_grad=True)\n"
        "opt = torch.optim.SGD([w], lr=0.4)\n"
        "x, y = 4 * torch.randn(20, 3), torch.randn(20)\n"
        "for _ in range(8):\n"
        "    opt.zero_grad()\n"
        "    (x @ w - y).pow(2).mean().backward()\n"
        "    opt.step()\n",
        (("lr=0.4", "lr=0.01"),),
    ),
    "unexplained_error.scores": (
        "judge, x, y = nn.Linear(3, 1), torch.randn(6, 3), torch.ones(6, 1)\n"
        "nn.BCELoss()(5 * judge(x), y).backward()\n",
        (("nn.BCELoss()", "nn.BCEWithLogitsLoss()"),),
    ),
    "unexplained_error.targets": (
        "judge, x, y = nn.Linear(3, 1), torch.randn(6, 3), 2 * torch.ones(6, 1)\n"
        "nn.BCELoss()(torch.sigmoid(judge(x)), y).backward()\n",
        (("2 * torch.ones", "torch.ones"),),
    ),
    "beyond_reach": (
        "net, x = nn.Linear(3, 1), torch.randn(6, 3)\n"
        "loss = nn.functional.mse_loss(torch.tanh(net(x)), 5 + x[:, :1])\n"
        "loss.backward()\n",
        (("torch.tanh(net(x))", "net(x)"),),
    ),
    "backward_never_called": (
        "class Reverse(nn.Module):\n"
        "    def forward(self, x):\n"
        "        return x\n"
        "    def backward(self, grad):\n"
        "        return -grad\n"
        "net, head = nn.Linear(3, 2), nn.Linear(2, 1)\n"
        "head(Reverse()(net(torch.randn(4, 3)))).pow(2).sum().backward()\n",
        (
            ("nn.Module", "torch.autograd.Function"),
            ("    def forward(self", "    @staticmethod\n    def forward(ctx"),
            ("    def backward(self", "    @staticmethod\n    def backward(ctx"),
            ("Reverse()(", "Reverse.apply("),
        ),
    ),
    "closure_computes_nothing": (
        "w = torch.tensor([3.0, -2.0], requires_grad=True)\n"
        "opt = torch.optim.LBFGS([w], max_iter=4)\n"
        "loss = (w**4).sum()\n"
        "loss.backward()\n"
        "def closure():\n"
        "    return loss\n"
        "opt.step(closure)\n",
        (("    return", "    opt.zero_grad()\n    loss = (w**4).sum()\n    loss.backward()\n    return"),),
    ),
    "sign_targets": (
        "scores, labels = torch.randn(6, requires_grad=True), torch.tensor([0.0, 1.0, 0.0, 1.0, 0.0, 0.0])\n"
        "nn.functional.soft_margin_loss(scores, labels).backward()\n",
        (("scores, labels)", "scores, 2 * labels - 1)"),),
    ),
    "state_not_carried": (
        "cell, h = nn.GRUCell(3, 4), None\nfor x_t in torch.randn(5, 2, 3):\n    h = cell(x_t)\nh.sum().backward()\n",
        (("cell(x_t)", "cell(x_t, h)"),),
    ),
    "weights_drawn_again": (
        "net, x, y = nn.Linear(3, 1), torch.randn(6, 3), torch.randn(6, 1)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for _ in range(3):\n"
        "    net.reset_parameters()\n"
        "    opt.zero_grad()\n"
        "    nn.functional.mse_loss(net(x), y).backward()\n"
        "    opt.step()\n",
        (("    net.reset_parameters()\n", ""), ("for _", "net.reset_parameters()\nfor _")),
    ),
    "unexplained_error.optimizer_state": (
        "net, head = nn.Linear(3, 4), nn.Linear(4, 1)\n"
        "saved = torch.optim.Adam([*net.parameters(), *head.parameters()]).state_dict()\n"
        "opt = torch.optim.Adam(head.parameters())\n"
        "opt.load_state_dict(saved)\n"
        "head(net(torch.randn(6, 3))).pow(2).mean().backward()\n"
        "opt.step()\n",
        (
            ("Adam(head.parameters())", "Adam([*net.parameters(), *head.parameters()])"),
            ("load_state_dict(saved)\n", "load_state_dict(saved)\nnet.requires_grad_(False)\n"),
        ),
    ),
    "unexplained_error.scaler": (
        "w = nn.Parameter(torch.ones(2))\n"
        "opt, scaler = torch.optim.SGD([w], lr=0.1), torch.amp.GradScaler('cpu')\n"
        "for _ in range(2):\n"
        "    opt.zero_grad()\n"
        "    scaler.scale(w.sum()).backward()\n"
        "    scaler.unscale_(opt)\n"
        "    opt.step()\n",
        (("    opt.step()\n", "    scaler.step(opt)\n    scaler.update()\n"),),
    ),
    "padding_takes_part.loss": (
        "embed, out = nn.Embedding(9, 4, padding_idx=0), nn.Linear(4, 9)\n"
        "tokens = torch.tensor([[4, 2, 7, 5], [3, 8, 0, 0]])\n"
        "scores = out(embed(tokens[:, :-1])).flatten(0, 1)\n"
        "loss = nn.functional.cross_entropy(scores, tokens[:, 1:].flatten())\n"
        "loss.backward()\n",
        (("tokens[:, 1:].flatten())", "tokens[:, 1:].flatten(), ignore_index=0)"),),
    ),
    "target_is_given": (
        "embed, out = nn.Embedding(9, 4), nn.Linear(4, 9)\n"
        "text = torch.tensor([[4, 2, 7, 5], [3, 8, 1, 6]])\n"
        "loss = nn.functional.cross_entropy(out(embed(text)).flatten(0, 1), text.flatten())\n"
        "loss.backward()\n",
        (("embed(text)", "embed(text[:, :-1])"), ("text.flatten()", "text[:, 1:].flatten()")),
    ),
    "relu_before_loss": (
        "net = nn.Linear(4, 3)\n"
        "scores = torch.relu(net(torch.randn(6, 4)))\n"
        "loss = nn.functional.cross_entropy(scores, torch.randint(0, 3, (6,)))\n"
        "loss.backward()\n",
        (("torch.relu(net(torch.randn(6, 4)))", "net(torch.randn(6, 4))"),),
    ),
    "scheduler_idle": (
        "w = nn.Parameter(torch.ones(2))\n"
        "opt = torch.optim.SGD([w], lr=0.1)\n"
        "schedule = torch.optim.lr_scheduler.StepLR(opt, step_size=1)\n"
        "for _ in range(4):\n"
        "    opt.zero_grad()\n"
        "    w.pow(2).sum().backward()\n"
        "    opt.step()\n",
        (("    opt.step()\n", "    opt.step()\n    schedule.step()\n"),),
    ),
    "two_shuffles": (
        "net = nn.Linear(3, 1)\n"
        "x, y = torch.randn(6, 3), torch.randn(6, 1)\n"
        "seen = x[torch.randperm(6)]\n"
        "wanted = y[torch.randperm(6)]\n"
        "nn.functional.mse_loss(net(seen), wanted).backward()\n",
        (
            ("seen = x[torch.randperm(6)]", "order = torch.randperm(6)\nseen = x[order]"),
            ("y[torch.randperm(6)]", "y[order]"),
        ),
    ),
    "grad_none.cut_inference": (
        "w = torch.ones(3, requires_grad=True)\n"
        "v = torch.ones(3, requires_grad=True)\n"
        "with torch.inference_mode():\n"
        "    h = w * 2\n"
        "loss = (h.clone() + v).sum()\n"
        "loss.backward()\n"
        "print(w.grad)\n",
        (("with torch.inference_mode():\n    h", "h"),),
    ),
    "grad_none.made_without_graph": (
        "w = torch.ones(3, requires_grad=True)\n"
        "h = (w * 2).detach()\n"
        "loss = (h * w).sum()\n"
        "loss.backward()\n"
        "print(h.grad)\n",
        (("(w * 2).detach()", "(w * 2).detach().requires_grad_()"),),
    ),
    "grad_none.name_moved": (
        "w = torch.ones(3, requires_grad=True)\n"
        "(w * 2).sum().backward()\n"
        "with torch.no_grad():\n"
        "    w = w - 0.1 * w.grad\n"
        "print(w.grad)\n",
        (("w = w - 0.1 * w.grad", "w -= 0.1 * w.grad"),),
    ),
    "grad_none.replaced": (
        "w = torch.ones(3, requires_grad=True)\n"
        "kept = [w]\n"
        "w = torch.zeros(3, requires_grad=True)\n"
        "loss = (w * 2).sum()\n"
        "loss.backward()\n"
        "print(kept[0].grad)\n",
        (("w = torch.zeros(3, requires_grad=True)", "with torch.no_grad():\n    w.zero_()"),),
    ),
    "grad_none.returned_none": (
        "class Scale(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x, s):\n"
        "        ctx.save_for_backward(x, s)\n"
        "        return x * s\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        x, s = ctx.saved_tensors\n"
        "        return g * s, None\n"
        "x = torch.ones(3, requires_grad=True)\n"
        "s = torch.full((3,), 2.0, requires_grad=True)\n"
        "Scale.apply(x, s).sum().backward()\n"
        "print(s.grad)\n",
        (("g * s, None", "g * s, g * x"),),
    ),
    "leaf_inplace.flag": (
        "x = torch.tensor([1.0, -1.0], requires_grad=True)\n"
        "y = nn.functional.relu(x, inplace=True)\n"
        "y.sum().backward()\n",
        ((", inplace=True", ""),),
    ),
    "load_matched_nothing.no_prefix": (
        "saved = nn.Linear(2, 1).state_dict()\n"
        "net = nn.Sequential()\n"
        "net.body = nn.Linear(2, 1)\n"
        "net.load_state_dict(saved, strict=False)\n"
        "print(net(torch.ones(1, 2)))\n",
        (
            (
                "load_state_dict(saved, strict=False)",
                "load_state_dict({f'body.{name}': value for name, value in saved.items()})",
            ),
        ),
    ),
    "load_matched_nothing.none": (
        "net = nn.Linear(2, 1)\nnet.load_state_dict({}, strict=False)\nprint(net(torch.ones(1, 2)))\n",
        (("load_state_dict({}, strict=False)", "load_state_dict(nn.Linear(2, 1).state_dict())"),),
    ),
    "loss_below_zero.unit": (
        "p = torch.tensor([[0.2, 0.9], [0.7, 0.4]], requires_grad=True)\n"
        "t = torch.tensor([1, 0])\n"
        "loss = nn.functional.nll_loss(p * 1, t)\n"
        "loss.backward()\n",
        (("nll_loss(p * 1, t)", "nll_loss((p * 1).log(), t)"),),
    ),
    "no_graph.copy": (
        "x = torch.ones(3, requires_grad=True)\nloss = torch.tensor((x * 2).sum())\nloss.backward()\n",
        (("torch.tensor((x * 2).sum())", "(x * 2).sum().clone()"),),
    ),
    "no_graph.inference": (
        "x = torch.ones(3, requires_grad=True)\nwith torch.inference_mode():\n    z = (x * 2).sum()\nz.backward()\n",
        (("with torch.inference_mode():\n    z", "z"),),
    ),
    "shared_memory.expanded": (
        "row = torch.zeros(3)\ngrid = row.expand(2, 3)\nrow[0] = 5.0\nprint(grid)\n",
        (("row.expand(2, 3)", "row.expand(2, 3).clone()"),),
    ),
    "shared_memory.same_memory": (
        "a = torch.zeros(3)\nb = torch.empty(0)\nb.set_(a)\na[0] = 5.0\nprint(b)\n",
        (("b.set_(a)", "b = a.clone()"),),
    ),
    "unused_input.not_required": (
        "x = torch.ones(3)\nw = torch.ones(3, requires_grad=True)\ny = (w * 2).sum()\ntorch.autograd.grad(y, x)\n",
        (
            ("x = torch.ones(3)\n", "x = torch.ones(3, requires_grad=True)\n"),
            ("(w * 2)", "(w * x)"),
        ),
    ),
}
"""Short programs of other variants, after the imports of torch and nn, and what is written in place of what."""
