//! Server-sent events as they come in: bytes in, events out. No I/O, and no connection that is opened again: that is the
//! caller's.

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

/// A parser of one stream, which is given the bytes as they come.
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    id: Option<String>,
    event: Option<String>,
    data: Option<String>,
    skip_newline: bool,
}

impl Parser {
    /// Every event that these bytes complete. Comments, and events without data, are none.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut done = Vec::new();
        for byte in bytes {
            // A line ends with CR, LF or both; a chunk may end between the two.
            match byte {
                b'\n' if std::mem::take(&mut self.skip_newline) => {}
                b'\n' | b'\r' => {
                    self.skip_newline = *byte == b'\r';
                    done.extend(self.end_line());
                }
                byte => {
                    self.skip_newline = false;
                    self.line.push(*byte);
                }
            }
        }
        done
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
            .take(b": still here\n\nid: 7\nevent: STEP_STARTED\ndata: {\ndata: }\n\nid: 8\n");
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
                text.as_bytes().chunks(size).flat_map(|chunk| parser.take(chunk)).collect();
            let taken: Vec<_> =
                taken.iter().map(|event| (event.event.as_str(), event.data.as_str())).collect();
            assert_eq!(taken, all, "in pieces of {size}");
        }
    }

    /// Takes whatever comes: what is read does not depend on where it is cut.
    fn read(bytes: &[u8]) -> String {
        let whole = Parser::default().take(bytes);
        for size in [1, 3, 7] {
            let mut parser = Parser::default();
            let taken: Vec<Event> = bytes.chunks(size).flat_map(|chunk| parser.take(chunk)).collect();
            assert_eq!(taken, whole, "in pieces of {size}");
        }
        format!("{:?}", whole.iter().map(|event| event.data.lines().count()).collect::<Vec<_>>())
    }

    #[test]
    fn fuzz_events() {
        abide_fuzz::fuzz("sse", &[], read);
    }
}
