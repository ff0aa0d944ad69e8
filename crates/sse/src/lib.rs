//! Server-sent events as they come in: bytes in, events out. No I/O, and no connection that is opened again: that is the
//! caller's.

use std::fmt;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// The id that the event has itself; a stream is taken up again after the last one.
    pub id: Option<String>,
    /// The name of the event; `message` where it has none.
    pub event: String,
    /// The lines of its data, joined.
    pub data: String,
}

/// What one event may take, in bytes: its data, its id, its name, and the line that has begun.
pub const EVENT_BYTES: usize = 16 * 1024 * 1024;

/// An event is larger than this reader takes: the stream cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge {
    /// What an event may take, in bytes.
    pub limit: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a server-sent event has more than {} bytes", self.limit)
    }
}

impl std::error::Error for TooLarge {}

/// A parser of one stream, which is given the bytes as they come.
#[derive(Debug)]
pub struct Parser {
    limit: usize,
    /// How long the line may become that has begun.
    room: usize,
    line: Vec<u8>,
    id: Option<String>,
    event: Option<String>,
    data: Option<String>,
    skip_newline: bool,
}

impl Default for Parser {
    fn default() -> Parser {
        Parser::with_limit(EVENT_BYTES)
    }
}

impl Parser {
    /// A parser of a stream whose events have at most so many bytes.
    pub fn with_limit(limit: usize) -> Parser {
        Parser {
            limit,
            room: limit,
            line: Vec::new(),
            id: None,
            event: None,
            data: None,
            skip_newline: false,
        }
    }

    /// Every event that these bytes complete. Comments, and events without data, are none.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLarge> {
        let mut done = Vec::new();
        for byte in bytes {
            // A line ends with CR, LF or both; a chunk may end between the two.
            match byte {
                b'\n' if std::mem::take(&mut self.skip_newline) => {}
                b'\n' | b'\r' => {
                    self.skip_newline = *byte == b'\r';
                    done.extend(self.end_line());
                    self.room = self.limit.saturating_sub(self.kept());
                }
                byte => {
                    self.skip_newline = false;
                    self.line.push(*byte);
                    if self.line.len() > self.room {
                        return Err(TooLarge { limit: self.limit });
                    }
                }
            }
        }
        Ok(done)
    }

    /// What the event has so far, apart from the line that has begun.
    fn kept(&self) -> usize {
        let texts = [&self.id, &self.event, &self.data];
        texts.into_iter().flatten().map(|text| text.len() + 1).sum()
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        if line.is_empty() {
            let (id, event) = (self.id.take(), self.event.take());
            let event = event.unwrap_or_else(|| "message".to_owned());
            return self.data.take().map(|data| Event { id, event, data });
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "id" => self.id = Some(value.to_owned()),
            "event" => self.event = Some(value.to_owned()),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_its_lines_joined_and_a_comment_is_none() {
        let events = Parser::default()
            .take(b": still here\n\nid: 7\nevent: STEP_STARTED\ndata: {\ndata: }\n\nid: 8\n")
            .unwrap();
        let expected = Event { id: Some("7".into()), event: "STEP_STARTED".into(), data: "{\n}".into() };
        assert_eq!(events, [expected]);
    }

    #[test]
    fn events_are_the_same_however_the_bytes_are_cut() {
        let text = "event: a\ndata: one\n\n: comment\r\ndata:two\r\ndata: lines ä\r\n\r\nid: 3\n\ndata: three\r\rdata: cut";
        let all = [("a", "one"), ("message", "two\nlines ä"), ("message", "three")];
        for size in 1..=text.len() {
            let mut parser = Parser::default();
            let taken: Vec<Event> =
                text.as_bytes().chunks(size).flat_map(|chunk| parser.take(chunk).unwrap()).collect();
            let taken: Vec<_> =
                taken.iter().map(|event| (event.event.as_str(), event.data.as_str())).collect();
            assert_eq!(taken, all, "in pieces of {size}");
        }
    }

    #[test]
    fn neither_a_line_nor_lines_without_end_are_kept() {
        let limit = 100;
        let is_refused = |line: &[u8]| {
            let mut parser = Parser::with_limit(limit);
            (0..1_000).find_map(|_| parser.take(line).err()) == Some(TooLarge { limit })
        };
        assert!(is_refused(b"data: x"));
        assert!(is_refused(b"data: x\n"));
        assert!(is_refused(b"data\ndata:\n"));
        assert!(!is_refused(b"data: x\n\n") && !is_refused(b": comment\n") && !is_refused(b"id: 7\n"));
    }

    #[test]
    fn an_event_of_just_the_size_is_read() {
        let mut parser = Parser::with_limit(10);
        assert_eq!(parser.take(b"data: 7890\n\ndata: 7890\n\n").unwrap().len(), 2);
        assert_eq!(parser.take(b"data: 78901"), Err(TooLarge { limit: 10 }));
    }

    /// Takes whatever comes: what is read does not depend on where it is cut.
    fn read(bytes: &[u8]) -> String {
        let whole = Parser::default().take(bytes).unwrap();
        for size in [1, 3, 7] {
            let mut parser = Parser::default();
            let taken: Vec<Event> =
                bytes.chunks(size).flat_map(|chunk| parser.take(chunk).unwrap()).collect();
            assert_eq!(taken, whole, "in pieces of {size}");
        }
        format!("{:?}", whole.iter().map(|event| event.data.lines().count()).collect::<Vec<_>>())
    }

    #[test]
    fn fuzz_events() {
        abide_fuzz::fuzz("sse", &[], read);
    }
}
