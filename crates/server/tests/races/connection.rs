//! A connection that is kept, and what goes over it.

use std::net::SocketAddr;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

pub(crate) struct Connection {
    address: SocketAddr,
    sender: SendRequest<Full<Bytes>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    method: Method,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Option<Value>,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Null where the body is not JSON.
    pub(crate) json: Value,
}

pub(crate) fn get(path: impl Into<String>) -> Call {
    Call { method: Method::GET, path: path.into(), headers: Vec::new(), body: None }
}

pub(crate) fn post(path: impl Into<String>, body: Value) -> Call {
    Call { method: Method::POST, path: path.into(), headers: Vec::new(), body: Some(body) }
}

impl Call {
    pub(crate) fn method(mut self, method: Method) -> Call {
        self.method = method;
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Call {
        self.headers.push((name, value.into()));
        self
    }
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Connection {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Connection { address, sender }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) async fn send(&mut self, call: Call) -> Reply {
        let path = call.path.strip_prefix(&format!("http://{}", self.address)).unwrap_or(&call.path);
        let path = if path.starts_with("/v1/") || path.starts_with("/api/v1/") {
            path.to_owned()
        } else {
            format!("/api/v1{path}")
        };
        let mut request =
            Request::builder().method(call.method).uri(path).header("host", self.address.to_string());
        if call.body.is_some() {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in call.headers {
            request = request.header(name, value);
        }
        let body = call.body.map(|body| body.to_string()).unwrap_or_default();
        let response = self.sender.send_request(request.body(Full::new(body.into())).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        self.sender.ready().await.unwrap();
        Reply { status, json: serde_json::from_slice(&bytes).unwrap_or_default() }
    }
}

impl Reply {
    #[track_caller]
    pub(crate) fn is(&self, status: u16) -> &Value {
        assert_eq!(self.status, status, "{}", self.json);
        &self.json
    }

    /// Refused with this status and code.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> &Value {
        assert_eq!((self.status, self.json["code"].as_str()), (status, Some(code)), "{}", self.json);
        &self.json
    }
}
