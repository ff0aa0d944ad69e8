//! The short form of JSON: strings that stand in most histories, and strings that stood here a moment ago, take one
//! byte. A sleeper's chunk is less than half as long, and so is the write that puts it to disk.
//!
//! The bytes that stand for strings do not occur outside of strings in compact JSON, and strings are written whole.
//! Everything else is left as it is and can be read with the naked eye.

/// Words and the bytes that stand for them. They are in files out there: they are never given another meaning.
const WORDS: [(u8, &str); 67] = [
    (0x01, "type"),
    (0x02, "at"),
    (0x03, "step"),
    (0x04, "name"),
    (0x05, "kind"),
    (0x06, "status"),
    (0x07, "number"),
    (0x08, "createdAt"),
    (0x09, "resumeAt"),
    (0x0A, "opens"),
    (0x0B, "awaits"),
    (0x0C, "wake"),
    (0x0D, "all"),
    (0x0E, "PENDING"),
    (0x0F, "COMPLETED"),
    (0x10, "DELAY"),
    (0x11, "$wait"),
    (0x12, "definition"),
    (0x13, "version"),
    (0x14, "input"),
    (0x15, "output"),
    (0x16, "waitpoint"),
    (0x17, "STEP_STARTED"),
    (0x18, "STEP_WAITING"),
    (0x19, "STEP_COMPLETED"),
    (0x1A, "WAIT_RESOLVED"),
    (0x1B, "WORKFLOW_PAUSED"),
    (0xC0, "WORKFLOW_STARTED"),
    (0xC1, "WORKFLOW_RESUMED"),
    (0xF5, "WORKFLOW_COMPLETED"),
    (0xF6, "TASK_STARTED"),
    (0xF7, "leaseEpoch"),
    (0xF8, "worker"),
    (0xF9, "deadline"),
    (0xFA, "reason"),
    (0xFB, "request"),
    (0xFC, "state"),
    (0xFD, "payload"),
    (0xFE, "item"),
    (0xFF, "error"),
    (0x80, "JOURNAL_RECORDED"),
    (0x81, "entries"),
    (0x82, "result"),
    (0x83, "tags"),
    (0x84, "body"),
    (0x85, "headers"),
    (0x86, "text"),
    (0x87, "each"),
    (0x88, "WAIT_CREATED"),
    (0x89, "STEP_RESUMED"),
    (0x8A, "listensFor"),
    (0x8B, "EVENT"),
    (0x8C, "RETRY"),
    (0x8D, "eventId"),
    (0x8E, "event"),
    (0x8F, "since"),
    (0x90, "host"),
    (0x91, "timer"),
    (0x92, "engine"),
    (0x93, "upstash-workflow"),
    (0x94, "stepId"),
    (0x95, "stepName"),
    (0x96, "stepType"),
    (0x97, "concurrent"),
    (0x98, "out"),
    (0x99, "sleepFor"),
    (0x9A, "SleepFor"),
];

/// Stands for the first string that is remembered; those after it follow.
const FIRST_REPEAT: u8 = 0x1C;
const REPEATS: usize = 4;
/// Shorter strings are not worth a place among the remembered. Instants and ids are longer.
const WORTH_REPEATING: usize = 12;

/// Appends the short form of compact JSON.
pub(crate) fn shorten(plain: &[u8], short: &mut Vec<u8>) {
    let mut seen = Seen::default();
    let mut place = 0;
    while let Some(&byte) = plain.get(place) {
        if byte != b'"' {
            short.push(byte);
            place += 1;
            continue;
        }
        let string = &plain[place..place + string_length(&plain[place..])];
        match word_byte(string).or_else(|| seen.repeat_byte(plain, string)) {
            Some(byte) => short.push(byte),
            None => {
                seen.remember(place, string);
                short.extend_from_slice(string);
            }
        }
        place += string.len();
    }
}

/// Appends the JSON that was shortened. What was not comes out as something that is not JSON.
pub(crate) fn expand(short: &[u8], plain: &mut Vec<u8>) {
    let mut seen = Seen::default();
    let mut place = 0;
    while let Some(&byte) = short.get(place) {
        if byte == b'"' {
            let string = &short[place..place + string_length(&short[place..])];
            seen.remember(plain.len(), string);
            plain.extend_from_slice(string);
            place += string.len();
            continue;
        }
        place += 1;
        if let Some((_, word)) = WORDS.iter().find(|(of, _)| *of == byte) {
            plain.push(b'"');
            plain.extend_from_slice(word.as_bytes());
            plain.push(b'"');
        } else if let Some((start, end)) = seen.repeated(byte) {
            plain.extend_from_within(start..end);
        } else {
            plain.push(byte);
        }
    }
}

fn word_byte(string: &[u8]) -> Option<u8> {
    let word = string.get(1..string.len() - 1)?;
    WORDS.iter().find(|(_, of)| of.as_bytes() == word).map(|(byte, _)| *byte)
}

/// From the opening quote to the closing one, or to the end of what there is.
fn string_length(text: &[u8]) -> usize {
    let mut place = 1;
    loop {
        match text.get(place) {
            Some(b'"') => return place + 1,
            Some(b'\\') => place += 2,
            Some(_) => place += 1,
            None => return text.len(),
        }
    }
}

/// The strings that were written out last, as places in the plain text.
#[derive(Default)]
struct Seen {
    places: [(usize, usize); REPEATS],
    next: usize,
}

impl Seen {
    fn remember(&mut self, start: usize, string: &[u8]) {
        if string.len() >= WORTH_REPEATING {
            self.places[self.next] = (start, start + string.len());
            self.next = (self.next + 1) % REPEATS;
        }
    }

    fn repeat_byte(&self, plain: &[u8], string: &[u8]) -> Option<u8> {
        if string.len() < WORTH_REPEATING {
            return None;
        }
        let index = self.places.iter().position(|(start, end)| &plain[*start..*end] == string)?;
        u8::try_from(index).ok().map(|index| FIRST_REPEAT + index)
    }

    fn repeated(&self, byte: u8) -> Option<(usize, usize)> {
        let index = usize::from(byte.checked_sub(FIRST_REPEAT)?);
        self.places.get(index).copied().filter(|(start, end)| start < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(plain: &str) -> usize {
        let (mut short, mut again) = (Vec::new(), Vec::new());
        shorten(plain.as_bytes(), &mut short);
        expand(&short, &mut again);
        assert_eq!(String::from_utf8(again).unwrap(), plain);
        short.len()
    }

    #[test]
    fn what_was_shortened_comes_out_again() {
        for plain in [
            "",
            "{}",
            r#"{"type":"type","x":"\"type\"","y":"type\\","z":"\\\"","":""}"#,
            r#"["2026-03-01T09:00:00Z","2026-03-01T09:00:00Z","\u0001\u001c","ÿ🦀 as long as it is"]"#,
            r#"["long_string_1","long_string_2","long_string_3","long_string_4","long_string_5"]"#,
            r#"["long_string_1","long_string_1","long_string_2","long_string_3","long_string_2"]"#,
        ] {
            round_trip(plain);
        }
        for (_, word) in WORDS {
            assert_eq!(round_trip(&format!("[\"{word}\"]")), 3);
        }
        assert_eq!(round_trip(r#"["twelve char","twelve char"]"#), 1 + 13 + 1 + 1 + 1);
    }

    #[test]
    fn every_word_has_a_byte_of_its_own() {
        for (index, (byte, word)) in WORDS.iter().enumerate() {
            assert!(*byte < FIRST_REPEAT || *byte >= 0x80, "{word}");
            assert!(WORDS[..index].iter().all(|(other, of)| other != byte && of != word), "{word}");
        }
    }

    #[test]
    fn what_was_never_shortened_does_not_become_json() {
        for short in [&[0x1C][..], b"\"open", b"\"open\\", &[0x00], &[0x1F, b'1']] {
            let mut plain = Vec::new();
            expand(short, &mut plain);
            assert!(serde_json::from_slice::<serde_json::Value>(&plain).is_err(), "{short:?}");
        }
    }
}
