"""Music from JSON and MIDI: parts, pieces by number, the notation of events, and what is wrong in one line."""

import gzip
import io
import json
import struct
from types import SimpleNamespace

import mido
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainrule.errors import DataError
from chainrule.inputs.midi import midi_bytes, read_midi
from chainrule.inputs.music import Note, Piece, piece_of, piece_of_frames, piece_of_roll, roll_of
from chainrule.inputs.music_events import WORDS, events_of, is_events, piece_of_events, starts_of_steps
from chainrule.inputs.pieces import open_pieces, with_parts

RECIPE = SimpleNamespace(text=SimpleNamespace(longest_line=64))
PARTS = {"test": [[[60]]], "train": [[[60, 64], [60]], [[], [72]]], "valid": [[[50, -1], [50.0]]]}
notes = st.builds(lambda start, pitch, length: Note(start, pitch, start + length), st.integers(0, 40),
                  st.integers(21, 108), st.integers(1, 40))
pieces = st.lists(notes, max_size=12).map(lambda own: piece_of(own, max([note.end for note in own], default=1)))


@pytest.fixture
def path(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(PARTS))
    return tmp_path / "a.json"


def opened(spec, step="quarter"):
    return open_pieces(spec, RECIPE, step)


def frames(pieces):
    return [[sorted(note.pitch for note in piece.notes if note.start <= t < note.end) for t in range(piece.steps)]
            for piece in pieces]


def test_a_part_and_a_piece_are_named_behind_the_file(path):
    assert frames(opened(f"{path}:train").pieces) == [[[60, 64], [60]], [[], [72]]]
    assert frames(opened([f"{path}:valid"]).pieces) == [[[50], [50]]]
    [one] = opened(f"{path}:train#1").pieces
    assert frames([one]) == [[[], [72]]] and one.source == f"{path}:train#1"
    assert len({opened(f"{path}:{part}").fingerprint() for part in PARTS}) == 3


def test_train_and_validation_are_found_by_their_names(path):
    train, valid = with_parts(opened(path), None)
    assert (train.name, valid.name) == (f"{path}:train", f"{path}:valid")
    named = opened(f"{path}:test")
    assert with_parts(named, None) == (named, None) and with_parts(opened(path), named)[1] is named


def test_a_list_may_be_packed_and_files_may_be_many(tmp_path):
    with gzip.open(tmp_path / "list.json.gz", "wt") as file:
        json.dump([[[60]], [[61]]], file)
    (tmp_path / "b.mid").write_bytes(midi_bytes(piece_of_frames([[70]]), "quarter"))
    (tmp_path / "notes.txt").write_text("no music")
    assert frames(opened(tmp_path).pieces) == [[[70]], [[60]], [[61]]]
    assert frames(opened(f"{tmp_path}/*.json.gz").pieces) == [[[60]], [[61]]]
    assert frames(opened(tmp_path / "list.json.gz#1").pieces) == [[[61]]]


@pytest.mark.parametrize(("text", "spec", "message"), [
    (json.dumps(PARTS), "a.json", "a.json: several parts, and none is named, expected for example .*a.json:test. It"),
    (json.dumps(PARTS), "a.json:tset", "a.json: no part 'tset', expected for example .*a.json:test. It has 'test'"),
    (json.dumps(PARTS), "a.json:test#7", "a.json:test#7: no piece 7, expected 0 to 0"),
    (json.dumps(PARTS), "b.json", "b.json: no such file or folder, expected pieces as JSON"),
    ('{"a": 1}', "a.json", "a.json: JSON that holds no music, expected"),
    ("[[[60]]", "a.json", "a.json: not JSON"),
    ("[" * 200_000, "a.json", "a.json: not JSON"),
    ("[[]]", "a.json", r"a.json#0: \[\], expected a list of steps, at least one"),
    ("[[[60]], 3]", "a.json", "a.json#1: 3, expected a list of steps"),
    ("[[[60], 3]]", "a.json", "a.json#0: step 1: 3, expected a list of pitches"),
    ("[[[60], [128]]]", "a.json", "a.json#0: step 1: pitch 128, expected a whole number from 0 to 127, or -1"),
    ("[[[60.5]]]", "a.json", "step 0: pitch 60.5, expected"),
    ("[[[NaN]]]", "a.json", "step 0: pitch NaN, expected"),
    ('[[["C4"]]]', "a.json", 'step 0: pitch "C4", expected'),
    ("[[[true]]]", "a.json", "step 0: pitch true, expected"),
])
def test_other_json_is_one_clear_line(tmp_path, text, spec, message):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        _ = opened(tmp_path / spec).pieces
    assert "\n" not in str(caught.value)


def test_json_is_read_as_a_whole_up_to_a_limit(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([[[60]] * 200_000]))
    with pytest.raises(DataError, match=r"more than 1 MiB of JSON in one value.*text.longest_line=2"):
        open_pieces(tmp_path / "a.json", SimpleNamespace(text=SimpleNamespace(longest_line=1)), "quarter")
    with pytest.raises(DataError, match="a.json#0: 200,000 steps, expected at most 131,072"):
        opened(tmp_path / "a.json")


@given(pieces)
def test_a_piece_is_what_its_events_say(piece):
    text = events_of(piece)
    assert piece_of_events(text) == piece and events_of(piece_of_events(text)) == text
    assert set(text.split()) <= set(WORDS) and (is_events(text) or not text)


@given(pieces, st.integers(0, 90))
def test_what_happens_from_a_step_on_goes_on_from_what_happened_before(piece, at):
    begun = piece.begun(at)
    whole = piece_of_events(f"{events_of(begun)} {events_of(piece, begun.steps)}")
    assert (whole.notes, whole.steps) == (piece.notes, piece.steps)


@given(pieces)
def test_a_roll_is_what_sounds_whenever_it_was_struck(piece):
    roll = roll_of(piece)
    assert roll.shape == (piece.steps, 88) and np.array_equal(roll_of(piece_of_roll(roll)), roll)
    assert frames([piece_of_roll(roll)]) == frames([piece])


@given(pieces, st.sampled_from(["quarter", "8th", "16th"]))
def test_a_midi_file_has_the_notes_that_were_written(piece, step):
    file = mido.MidiFile(file=io.BytesIO(midi_bytes(piece, step)))
    struck = sorted(message.note for message in file.tracks[0] if message.type == "note_on" and message.velocity)
    assert struck == sorted(note.pitch for note in piece.notes)
    assert sum(message.time for message in file.tracks[0]) == piece.steps * 480 // {"quarter": 1, "8th": 2, "16th": 4}[
        step]


@pytest.mark.parametrize("step", ["quarter", "8th", "16th"])
def test_a_midi_file_is_read_as_it_was_written(tmp_path, step):
    piece = piece_of([Note(0, 60, 2), Note(2, 60, 3), Note(1, 64, 7)], 7)  # one key is struck again
    (tmp_path / "a.mid").write_bytes(midi_bytes(piece, step))
    found = read_midi(tmp_path / "a.mid", step)
    assert (found.notes, found.steps) == (piece.notes, piece.steps)


def test_notes_go_to_the_nearest_step_and_drums_are_left_out(tmp_path, caplog):
    file = mido.MidiFile(ticks_per_beat=96)
    file.tracks.append(mido.MidiTrack([
        mido.Message("note_on", note=60, time=10), mido.Message("note_on", note=35, channel=9),
        mido.Message("note_on", note=60, velocity=0, time=100), mido.Message("note_on", note=62, time=80),
        mido.Message("note_off", note=62, time=5)]))
    file.save(tmp_path / "a.mid")
    with caplog.at_level("INFO", logger="chainrule"):
        assert read_midi(tmp_path / "a.mid", "quarter").notes == ((0, 60, 1), (2, 62, 3))
    assert "a.mid: 1 strokes of drums (channel 10) left out." in caplog.text


def damaged():
    whole = midi_bytes(piece_of_frames([[60], [62]]), "quarter")
    slow = mido.MidiFile(tracks=[mido.MidiTrack([mido.Message("note_on", note=60),
                                                 mido.Message("note_off", note=60, time=(1 << 28) - 1)])],
                         ticks_per_beat=1)
    out = io.BytesIO()
    slow.save(file=out)
    return {"empty": (b"", "not a MIDI file: it begins with b''"), "text": (b"RIFFxxxx", "begins with b'RIFF'"),
            "head": (whole[:10], "a damaged MIDI file"), "cut": (whole[:-6], "a damaged MIDI file"),
            "film": (whole[:12] + struct.pack(">h", -6400) + whole[14:], "its time is in frames of film"),
            "silent": (midi_bytes(Piece((), 3), "quarter"), "no note in it, expected some"),
            "endless": (out.getvalue(), "268,435,455 steps, expected at most 131,072")}


@pytest.mark.parametrize("name", damaged())
def test_a_damaged_midi_file_is_one_clear_line(tmp_path, name):
    data, message = damaged()[name]
    (tmp_path / "a.mid").write_bytes(data)
    with pytest.raises(DataError, match=f"a.mid: .*{message}") as caught:
        read_midi(tmp_path / "a.mid", "quarter")
    assert "\n" not in str(caught.value)


@given(st.integers(0, 200), st.binary(min_size=1, max_size=4))
def test_a_file_with_any_bytes_changed_is_read_or_refused_with_its_name(tmp_path_factory, at, changed):
    whole = midi_bytes(piece_of_frames([[60, 64], [62], [65, 69]]), "8th")
    path = tmp_path_factory.mktemp("midi") / "a.mid"
    path.write_bytes(whole[:at % len(whole)] + changed + whole[at % len(whole) + len(changed):])
    try:
        assert read_midi(path, "quarter").steps > 0
    except DataError as error:
        assert str(error).startswith(str(path)) and "\n" not in str(error)


def test_pitches_that_no_piano_has_are_named():
    with pytest.raises(DataError, match="a: pitch 12, which no piano has, expected 21 to 108"):
        roll_of(piece_of_frames([[60, 12]], "a"))


def test_odd_events_make_a_piece_nevertheless():
    piece = piece_of_events("off60 on60 t2 on60 <unk> t99 on200 t1 off60 off61")
    assert piece.notes == ((0, 60, 2), (2, 60, 102)) and piece.steps == 102
    assert not is_events("on60 and off61") and not is_events("")


def test_words_know_their_step():
    assert starts_of_steps(["on60", "t3", "off60", "on62", "t1", "t16", "on64"]) == [0, 0, 3, 3, 3, 4, 20]
