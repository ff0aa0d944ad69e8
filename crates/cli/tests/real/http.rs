//! A client with a connection to each of one or several servers, of which it asks one after the other. Nothing between it
//! and the socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

pub(crate) struct Http {
    servers: Vec<Server>,
    /// The one that is asked next.
    next: usize,
    patience: Duration,
    /// What opens the door, if it is closed.
    secret: Option<String>,
}

struct Server {
    address: SocketAddr,
    connection: Option<BufReader<TcpStream>>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Http {
    #[allow(dead_code, reason = "not every test has one server only")]
    pub(crate) fn new(address: SocketAddr) -> Http {
        Http::of(&[address], Duration::from_secs(20))
    }

    pub(crate) fn of(addresses: &[SocketAddr], patience: Duration) -> Http {
        let servers = addresses.iter().map(|address| Server { address: *address, connection: None });
        Http { servers: servers.collect(), next: 0, patience, secret: None }
    }

    #[allow(dead_code, reason = "not every server has keys")]
    pub(crate) fn with_key(self, secret: &str) -> Http {
        Http { secret: Some(secret.to_owned()), ..self }
    }

    pub(crate) fn get(&mut self, path: &str) -> std::io::Result<Answer> {
        self.ask("GET", path, None, None)
    }

    pub(crate) fn post(&mut self, path: &str, body: &Value, key: Option<&str>) -> std::io::Result<Answer> {
        self.ask("POST", path, Some(body), key)
    }

    /// `Err` means that there is no saying whether it was done.
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
