"""WAV files: every width and number of channels as the standard library writes it; what is none is named."""

import struct

import numpy as np
import pytest
from recorded import CODES, chunked, form, tone, write

from chainrule.errors import DataError
from chainrule.inputs.wav import read_header, read_wav


@pytest.mark.parametrize("width", CODES)
@pytest.mark.parametrize("rate", [8000, 11025, 44100])
def test_every_width_and_rate_is_read(tmp_path, width, rate):
    samples = tone(300, rate=rate)
    found, own = read_wav(write(tmp_path / "a.wav", samples, rate, width))
    assert own == rate and found.dtype == np.float32 and found.shape == samples.shape
    np.testing.assert_allclose(found, samples, atol=2.0 ** (2 - 8 * width) + 1e-6)


def test_several_channels_are_mixed_down_to_their_mean(tmp_path):
    left, right = tone(300), tone(500)
    found, _ = read_wav(write(tmp_path / "a.wav", np.stack([left, right], axis=1)))
    np.testing.assert_allclose(found, (left + right) / 2, atol=1e-4)
    assert read_header(tmp_path / "a.wav").channels == 2 and read_header(tmp_path / "a.wav").seconds == 0.3


def test_the_extremes_of_each_width_are_numbers_from_minus_one_to_one(tmp_path):
    for bits, data in ((8, b"\x00\x80\xff"), (16, struct.pack("<3h", -32768, 0, 32767)),
                       (24, b"\x00\x00\x80" + b"\x00\x00\x00" + b"\xff\xff\x7f"),
                       (32, struct.pack("<3i", -2**31, 0, 2**31 - 1))):
        (tmp_path / "a.wav").write_bytes(chunked(form(bits=bits), (b"data", data)))
        found, _ = read_wav(tmp_path / "a.wav")
        np.testing.assert_allclose(found, [-1, 0, 1], atol=1 / 127)
        assert found[0] == -1 and found[1] == 0


def test_other_chunks_and_the_extensible_header_are_read(tmp_path):
    data = (b"data", struct.pack("<4h", 1, 2, 3, 4))
    subtype = struct.pack("<HHI", 22, 16, 4) + bytes.fromhex("0100000000001000800000aa00389b71")
    for header in (form(), form(coding=0xFFFE, more=subtype)):
        (tmp_path / "a.wav").write_bytes(chunked((b"LIST", b"odd"), header, (b"fact", b"1234"), data, (b"end ", b"")))
        assert (read_wav(tmp_path / "a.wav")[0] * 32768).tolist() == [1, 2, 3, 4]


def test_a_stream_of_unknown_length_is_read_to_its_end(tmp_path):
    whole = chunked(form(), (b"data", struct.pack("<4h", 1, 2, 3, 4)))
    (tmp_path / "a.wav").write_bytes(whole[:-12] + b"\xff\xff\xff\xff" + whole[-8:])
    assert len(read_wav(tmp_path / "a.wav")[0]) == 4


@pytest.mark.parametrize(("data", "message"), [
    (b"", "a.wav: an empty file, expected a WAV recording"),
    (b"ID3\x03 this is an MP3", r"a.wav: not a WAV file: it begins with b'ID3\\x03', expected 'RIFF' and 'WAVE'"),
    (b"RIFF", "a.wav: not a WAV file"),
    (chunked(), "a.wav: a WAV file without its header: it was cut"),
    (chunked(form()), "a.wav: a WAV file without sound: it was cut"),
    (chunked((b"fmt ", b"short")), "a.wav: the header of the WAV file was cut"),
    (chunked(form(), (b"data", b"")), "a.wav: a WAV file without any sound, expected a recording. Leave it out"),
    (chunked(form(coding=3, bits=32), (b"data", b"12345678")), "a.wav: floating point samples, expected PCM of 8, 16, "
     "24 or 32 bits. Convert it, as with: ffmpeg -i a.wav -c:a pcm_s16le new.wav"),
    (chunked(form(coding=7, bits=8), (b"data", b"1234")), "a.wav: μ-law samples, expected PCM"),
    (chunked(form(coding=999), (b"data", b"1234")), "a.wav: coding 999 samples, expected PCM"),
    (chunked(form(bits=12), (b"data", b"1234")), "a.wav: 1 channels of 12 bits at 8,000 Hz, expected PCM"),
    (chunked(form(channels=0), (b"data", b"1234")), "a.wav: 0 channels of 16 bits"),
    (chunked(form(), (b"data", b"1" * 100))[:-40], "a.wav: the file was cut: its header promises 100 bytes of sound, "
     "and there are 60. Record or copy it again"),
])
def test_what_is_no_whole_recording_is_refused_in_one_line(tmp_path, data, message):
    (tmp_path / "a.wav").write_bytes(data)
    with pytest.raises(DataError, match=message) as error:
        read_wav(tmp_path / "a.wav")
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none.wav: cannot be read \(No such file"):
        read_wav(tmp_path / "none.wav")
