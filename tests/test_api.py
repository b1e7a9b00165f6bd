"""The Python API: the same nouns as the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sightline
from sightline.errors import UserError


@pytest.fixture(scope="module")
def model(small_run: Path) -> sightline.Model:
    return sightline.load(small_run)


def test_texts_come_back_in_order_and_empty_ones_stay_empty(model: sightline.Model) -> None:
    texts = ["le chat dort", "", "la maison est grande et le chien dort", "  "]
    found = model.translate(texts)
    assert [translation.source for translation in found] == texts
    assert [bool(translation.candidates) for translation in found] == [True, False, True, False]
    assert found[2].text == model.translate(texts[2:3])[0].text


def test_one_text_instead_of_a_list_is_refused(model: sightline.Model) -> None:
    with pytest.raises(TypeError, match="list of texts"):
        model.translate("le chat")


def test_a_translations_score_is_what_score_says(small_run: Path) -> None:
    model, texts, compared = sightline.load(small_run, engine="torch"), ["le chat dort", "la maison est grande", "un chien"], 0
    # One piece, or this model's text is hardly ever cut again as it was written.
    options = sightline.SearchOptions(beam=60, n_best=60, max_ratio=0.0, max_extra=1)
    for found in model.translate(texts, options):
        scores = model.score([(found.source, candidate.text) for candidate in found.candidates])
        for candidate, scored in zip(found.candidates, scores, strict=True):
            ((_, written),) = candidate.parts
            # The text may be cut into other pieces than those that were written; then its score is another one's.
            if tuple(model.translator.tokenizers[1].encode(candidate.text.strip())) == written:
                compared += 1
                assert scored.total == pytest.approx(candidate.log_probability, rel=1e-5)
    assert compared >= 3


def test_explain_shows_its_own_translation_or_a_given_one(model: sightline.Model) -> None:
    own, given = model.explain("le chat dort"), model.explain("le chat dort", "the cat sleeps")
    assert given.target.words == ("the", "cat", "sleeps")
    ((_, written),) = model.translate(["le chat dort"])[0].candidates[0].parts
    assert own.target.pieces == tuple(model.translator.tokenizers[1].pieces(written))
    weights = given.weights(given.cross())
    assert weights.shape == (3, 4)
    np.testing.assert_allclose(weights.sum(1), 1, rtol=1e-5)


def test_explaining_many_keeps_their_order(model: sightline.Model) -> None:
    pairs = [("le chat dort", "a b c"), ("la maison", "e"), ("un", "d")]
    found = list(model.explain_pairs(pairs))
    assert [" ".join(each.source.words) for each in found] == ["le chat dort", "la maison", "un"]
    assert found[0].target.words == ("a", "b", "c")
    assert found[2].target.words == ("d",)


def test_samples_depend_on_the_seed_alone(model: sightline.Model) -> None:
    def drawn(seed: int) -> list[str]:
        options = sightline.SampleOptions(count=4, seed=seed)
        return [candidate.text for candidate in model.sample(["le chat dort"], options)[0].candidates]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_several_models_vote_and_must_share_their_pieces(small_run: Path) -> None:
    together = sightline.load(small_run, small_run)
    alone = sightline.load(small_run)
    assert together.translate(["le chat dort"])[0].text == alone.translate(["le chat dort"])[0].text
    with pytest.raises(UserError, match="explain them one by one"):
        together.explain("le chat dort")


def test_the_engine_is_ones_own_choice(small_run: Path) -> None:
    assert sightline.load(small_run, engine="torch").engine() == "torch fp32"
    assert sightline.load(small_run).engine(sightline.SearchOptions(coverage_penalty=0.2)) == "torch fp32"
    with pytest.raises(UserError, match="there is no engine 'abacus'; say torch, native, ctranslate2 or auto"):
        sightline.load(small_run, engine="abacus")


def test_a_missing_folder_and_a_missing_card_are_told(tmp_path: Path, small_run: Path) -> None:
    with pytest.raises(UserError, match="there is no such model folder"):
        sightline.load(tmp_path / "nowhere")
    with pytest.raises(UserError, match="there is no device 'tpux'"):
        sightline.load(small_run, device="tpux")
