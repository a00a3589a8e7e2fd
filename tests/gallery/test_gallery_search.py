"""The gallery's search: what a person would paste or type, and the scenarios one of which has to be among the first
three."""

import pytest

from server.gallery.scenarios import load_scenarios
from server.gallery.search import ScenarioSearch
from tests.conftest import ROOT

SCENARIOS = load_scenarios(ROOT / "scenarios")
INPLACE = (
    "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: "
)
SECOND = (
    "RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they "
    "have "
    "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad()."
)
NOT_A_LEAF = (
    "UserWarning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
    "won't "
    "be populated during autograd.backward()."
)

QUERIES: dict[str, set[str]] = {
    # first lines of errors and warnings
    INPLACE
    + "[torch.FloatTensor [3]], which is output 0 of SigmoidBackward0, is at version 1; expected version 0 instead.": {
        "saved_inplace",
        "relu_or_clamp",
        "alias_unsaved",
    },
    INPLACE + "[torch.FloatTensor [1, 2, 2, 2]], which is output 0 of ReluBackward0, is at version 1": {
        "relu_or_clamp"
    },
    "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.": {"leaf_write"},
    "RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation.": {"leaf_row"},
    "AttributeError: 'NoneType' object has no attribute 'zero_'": {"rebound_weight", "rebound_step"},
    "RuntimeError: Output 0 of UnbindBackward0 is a view and is being modified inplace. This view is the output of a "
    "function that returns multiple views.": {"unbind_rows"},
    NOT_A_LEAF: {"moved_leaf", "retain_grad"},
    "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn": {
        "accuracy_loss",
        "rebound_step",
    },
    SECOND: {"accumulate"},
    "RuntimeError: unsupported operation: more than one element of the written-to tensor refers to a single memory "
    "location. Please clone() the tensor before performing the operation.": {"expand_write"},
    "RuntimeError: view size is not compatible with input tensor's size and stride (at least one dimension spans "
    "across "
    "two contiguous subspaces). Use .reshape(...) instead.": {"not_contiguous"},
    "RuntimeError: Only Tensors of floating point and complex dtype can require gradients": {"integer_leaf"},
    'Traceback (most recent call last):\n  File "train.py", line 9, in <module>\n    loss.backward()\n'
    "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn": {"accuracy_loss"},
    # symptoms
    "x.grad is None after .to()": {"moved_leaf"},
    "argmax in the loss": {"accuracy_loss", "silenced_loss"},
    "loss.requires_grad = True but the loss never falls": {"silenced_loss"},
    "memory grows with every iteration": {"losses_list"},
    "detach_() before backward and the gradient still arrives": {"detached_late"},
    "slice changes after in-place subtraction": {"slice_follows"},
    "a[mask][1:] = -1 does nothing": {"mask_copy"},
    "fill_ through an index list does not change x": {"mask_copy"},
    "numpy array changes when tensor += 1": {"numpy_write", "as_tensor"},
    "repeated indices are counted once": {"repeated_index"},
    "difference between data and detach": {"data"},
    "loss.grad is None": {"retain_grad", "grad_none_before"},
    "optimizer does not update my weight": {"optimizer_old"},
    "require_grad": {"require_grad_typo"},
    "ValueError: optimizer got an empty parameter list": {"python_list"},
    "RuntimeError: Output 0 of BackwardHookFunctionBackward is a view and is being modified inplace. This view was "
    "created "
    "inside a custom Function": {"backward_hook_inplace"},
    "UserWarning: None of the inputs have requires_grad=True. Gradients will be None": {"checkpoint_input"},
    "RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.": {
        "numpy_refused"
    },
    "loss2.backward() fails after optimizer.step()": {"step_between"},
    "state_dict backup changes during training": {"state_dict_backup"},
    "frozen layer still changes with requires_grad = False": {"frozen_moves"},
    "decoder.weight.data = encoder.weight.data": {"tied_data"},
    "forward hook sees the output as its input": {"module_hook_inplace"},
    "torch.where gradient is nan": {"where_nan"},
    "custom Function writes its input in place mark_dirty": {"mark_dirty"},
    "hidden state detach second batch raises": {"hidden_carried"},
    # operations, beginnings of words, Chinese
    "expand": {"expand_write"},
    "deepcopy": {"deepcopy"},
    "retain_gr": {"accumulate", "retain_grad"},
    "梯度累加": {"accumulate", "accumulation"},
    "原地操作报错": {"saved_inplace", "leaf_write"},
}


@pytest.fixture(scope="module")
def search() -> ScenarioSearch:
    return ScenarioSearch(SCENARIOS)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query[:50])
def test_one_of_the_right_scenarios_is_among_the_first_three(query: str, search: ScenarioSearch) -> None:
    assert {scenario.name for scenario in SCENARIOS} >= QUERIES[query]
    found = search.find(query)
    assert QUERIES[query] & set(found[:3]), found[:6]


def test_every_scenario_is_found_by_each_of_its_symptoms_and_its_titles(search: ScenarioSearch) -> None:
    wanted = {
        text: scenario.name
        for scenario in SCENARIOS
        for text in (*scenario.symptoms, *(scenario.text[language]["title"] for language in scenario.text))
    }
    found = {text: search.find(text) for text in wanted}
    missed = {text: (name, found[text][:3]) for text, name in wanted.items() if name not in found[text][:8]}
    assert missed == {}


def test_unknown_words_find_nothing_and_an_empty_search_finds_all(search: ScenarioSearch) -> None:
    assert search.find("zzzz qqqq") == search.find("。") == []
    assert search.find("") == [scenario.name for scenario in SCENARIOS]
