//! Server-sent events as they come in: bytes in, events out.

/// One event. Providers repeat its name inside the data, so that the data is enough.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: String,
    skip_newline: bool,
}

impl Events {
    /// The data of every event that these bytes complete.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut done = Vec::new();
        for byte in bytes {
            // A line ends with CR, LF or both; a chunk may end between the two.
            match byte {
                b'\n' if std::mem::take(&mut self.skip_newline) => {}
                b'\n' | b'\r' => {
                    self.skip_newline = *byte == b'\r';
                    self.end_line(&mut done);
                }
                byte => {
                    self.skip_newline = false;
                    self.line.push(*byte);
                }
            }
        }
        done
    }

    fn end_line(&mut self, done: &mut Vec<String>) {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            if !self.data.is_empty() {
                done.push(std::mem::take(&mut self.data));
            }
            return;
        }
        let Some(data) = line.strip_prefix(b"data:") else { return };
        let data = data.strip_prefix(b" ").unwrap_or(data);
        if !self.data.is_empty() {
            self.data.push('\n');
        }
        self.data.push_str(&String::from_utf8_lossy(data));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_however_the_bytes_are_cut() {
        let text = "event: a\ndata: one\n\n: comment\r\ndata:two\r\ndata: lines ä\r\n\r\nid: 3\n\ndata: three\r\rdata: cut";
        let all = ["one", "two\nlines ä", "three"];
        assert_eq!(Events::default().take(text.as_bytes()), all);
        for size in 1..text.len() {
            let mut events = Events::default();
            let taken: Vec<String> =
                text.as_bytes().chunks(size).flat_map(|chunk| events.take(chunk)).collect();
            assert_eq!(taken, all, "in pieces of {size}");
        }
    }
}
