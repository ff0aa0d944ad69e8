//! Blocking HTTP, with nothing between it and the socket: a client that keeps its connections, and single requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use serde_json::Value;

/// What is to be answered is answered in this time, or never.
const LONG: Duration = Duration::from_secs(300);

/// A client with a connection to each of one or several servers, of which it asks one after the other.
#[derive(Debug)]
pub struct Http {
    servers: Vec<Server>,
    /// The server that is asked next.
    next: usize,
    patience: Duration,
    /// The API key, where the servers want one.
    secret: Option<String>,
}

#[derive(Debug)]
struct Server {
    address: SocketAddr,
    connection: Option<BufReader<TcpStream>>,
}

/// What a server answered; the body is null where there is none.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The JSON of the body.
    pub body: Value,
}

impl Http {
    /// A client of one server.
    pub fn new(address: SocketAddr) -> Http {
        Http::of(&[address], LONG)
    }

    /// A client of several servers, which waits this long for an answer.
    pub fn of(addresses: &[SocketAddr], patience: Duration) -> Http {
        let servers = addresses.iter().map(|address| Server { address: *address, connection: None });
        Http { servers: servers.collect(), next: 0, patience, secret: None }
    }

    /// The same client with an API key.
    pub fn with_key(self, secret: &str) -> Http {
        Http { secret: Some(secret.to_owned()), ..self }
    }

    /// Asks for a path below `/api/v1`. `Err` means that there is no saying whether it was answered.
    pub fn get(&mut self, path: &str) -> std::io::Result<Answer> {
        self.ask("GET", path, None, None)
    }

    /// Posts to a path below `/api/v1`, under an idempotency key if one is given. `Err` means that there is no saying
    /// whether it was done.
    pub fn post(&mut self, path: &str, body: &Value, key: Option<&str>) -> std::io::Result<Answer> {
        self.ask("POST", path, Some(body), key)
    }

    fn ask(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> std::io::Result<Answer> {
        let server = self.next;
        self.next = (server + 1) % self.servers.len();
        let secret = self.secret.as_ref().map(|secret| format!("x-api-key: {secret}\r\n"));
        let key = key.map(|key| format!("idempotency-key: {key}\r\n"));
        let headers = secret.unwrap_or_default() + &key.unwrap_or_default();
        let answer = self.servers[server].exchange(self.patience, method, path, body, &headers);
        if answer.is_err() {
            self.servers[server].connection = None;
        }
        answer
    }
}

impl Server {
    fn exchange(
        &mut self,
        patience: Duration,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &str,
    ) -> std::io::Result<Answer> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => {
                let stream = TcpStream::connect(self.address)?;
                stream.set_read_timeout(Some(patience))?;
                stream.set_nodelay(true)?;
                self.connection.insert(BufReader::new(stream))
            }
        };
        let body = body.map(ToString::to_string).unwrap_or_default();
        let request = format!(
            "{method} /api/v1{path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
            self.address,
            body.len(),
        );
        connection.get_mut().write_all(request.as_bytes())?;
        read_answer(connection)
    }
}

fn read_answer(connection: &mut BufReader<TcpStream>) -> std::io::Result<Answer> {
    let broken = |what: &str| std::io::Error::other(what.to_owned());
    let mut line = String::new();
    connection.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| broken("no status"))?;
    let mut length = 0;
    loop {
        line.clear();
        connection.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().map_err(|_| broken("no length"))?;
        }
    }
    let mut body = vec![0; length];
    connection.read_exact(&mut body)?;
    let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body)? };
    Ok(Answer { status, body })
}

/// One request on a connection of its own, with these header lines: the status, and the body if it is JSON, else null.
pub fn exchange(
    address: impl ToSocketAddrs,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap_or_default())
}
