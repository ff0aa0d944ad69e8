//! Server-sent events, as far as a history needs them: an id and data.

use reqwest::{Method, Response, StatusCode, header};

use super::{Client, Error};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: Option<u64>,
    pub(crate) data: String,
}

/// A stream under way.
#[derive(Debug)]
pub(crate) struct Stream {
    response: Response,
    unread: Vec<u8>,
    server: String,
}

impl Client {
    /// Opens the stream at a path after an event; `None` when nothing more will come.
    pub(crate) async fn stream(&self, path: &[&str], last: Option<u64>) -> Result<Option<Stream>, Error> {
        let mut request = self.request(Method::GET, path, &[]).header(header::ACCEPT, "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = self.respond(request).await?;
        let is_over = response.status() == StatusCode::NO_CONTENT;
        let server = self.server().to_owned();
        Ok((!is_over).then_some(Stream { response, unread: Vec::new(), server }))
    }
}

impl Stream {
    /// The next event; `None` at the stream's end.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            while let Some(block) = take_block(&mut self.unread) {
                if let Some(event) = parse(&block) {
                    return Ok(Some(event));
                }
            }
            match self.response.chunk().await {
                Ok(Some(chunk)) => self.unread.extend_from_slice(&chunk),
                Ok(None) => return Ok(None),
                Err(error) => {
                    let why = super::error::causes(&error);
                    return Err(Error::Unreachable { server: self.server.clone(), why });
                }
            }
        }
    }
}

/// Up to an empty line.
fn take_block(unread: &mut Vec<u8>) -> Option<String> {
    let end = unread.windows(2).position(|pair| pair == b"\n\n")?;
    let block: Vec<u8> = unread.drain(..end + 2).collect();
    Some(String::from_utf8_lossy(&block).into_owned())
}

/// A block without data is a sign of life.
fn parse(block: &str) -> Option<Event> {
    let fields = |name: &str| {
        let lines = block.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        lines.map(|value| value.strip_prefix(' ').unwrap_or(value)).collect::<Vec<_>>()
    };
    let data = fields("data");
    let id = fields("id").last().and_then(|id| id.parse().ok());
    (!data.is_empty()).then(|| Event { id, data: data.join("\n") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_and_signs_of_life_are_not() {
        let mut unread = b": still here\n\nid: 7\nevent: X\ndata: {\"a\":1}\n\nid: 8\nda".to_vec();
        assert_eq!(take_block(&mut unread).as_deref().and_then(parse), None);
        let event = take_block(&mut unread).as_deref().and_then(parse);
        assert_eq!(event, Some(Event { id: Some(7), data: "{\"a\":1}".to_owned() }));
        assert_eq!(take_block(&mut unread), None);
        assert_eq!(unread, b"id: 8\nda");
    }
}
