//! Calls over real sockets: what is refused, what is followed, what is bounded.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use abide_calls::http::{CONNECT, Client, Error, Looked, Policy, Request, Resolve, Rule};
use abide_testkit::receiver::{Receiver, ok, redirect};
use http::{HeaderValue, Method, header};

/// Every name has these addresses.
struct Named(Vec<SocketAddr>);

impl Resolve for Named {
    fn look_up<'a>(&'a self, host: &'a str, port: u16) -> Looked<'a> {
        let found = self.0.iter().map(|address| SocketAddr::new(address.ip(), port)).collect::<Vec<_>>();
        Box::pin(async move {
            if host == "nowhere.test" { Err(io::Error::other("no such name")) } else { Ok(found) }
        })
    }
}

fn resolving(policy: Policy, addresses: &[&str]) -> Client {
    let addresses = addresses.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 0)).collect();
    Client::with(policy, CONNECT, Arc::new(Named(addresses)))
}

fn allowing(rules: &[&str]) -> Policy {
    Policy::allowing(rules.iter().map(|rule| rule.parse::<Rule>().unwrap()))
}

fn get(url: impl Into<String>) -> Request {
    Request::new(Method::GET, url)
}

#[tokio::test]
async fn addresses_that_are_not_public_are_refused_and_named() {
    let client = Client::new(Policy::default());
    for (url, named) in [
        ("http://127.0.0.1/", "127.0.0.1 is a loopback address"),
        ("http://2130706433/", "127.0.0.1 is a loopback address"),
        ("http://0x7f.1/", "127.0.0.1 is a loopback address"),
        ("http://[::1]/", "::1 is a loopback address"),
        ("http://[::ffff:127.0.0.1]/", "::ffff:127.0.0.1 is a loopback address"),
        ("http://[::ffff:a9fe:a9fe]/latest/meta-data", "is a metadata address"),
        ("http://169.254.169.254/", "169.254.169.254 is a metadata address"),
        ("https://10.1.2.3:8443/", "10.1.2.3 is a private address"),
        ("http://[fd00::1]/", "fd00::1 is a unique-local address"),
        ("http://localhost/", "loopback address"),
        ("http://0.0.0.0/", "0.0.0.0 is a unspecified address"),
    ] {
        let error = client.send(get(url)).await.unwrap_err();
        assert_eq!(error.code(), "HTTP_ADDRESS_REFUSED", "{url}: {error}");
        assert!(error.to_string().contains(named), "{url}: {error}");
        assert!(!error.is_passing() && !error.may_have_arrived());
    }
}

#[tokio::test]
async fn a_name_of_a_private_address_is_refused() {
    for address in ["10.0.0.7", "::ffff:192.168.0.1", "64:ff9b::a00:1", "169.254.169.254"] {
        let error =
            resolving(Policy::default(), &[address]).send(get("http://public.test/")).await.unwrap_err();
        assert_eq!(error.code(), "HTTP_ADDRESS_REFUSED", "{error}");
        assert!(
            error.to_string().contains("`public.test`") && error.to_string().contains(address),
            "{error}"
        );
    }
}

#[tokio::test]
async fn of_several_addresses_only_the_allowed_ones_are_connected_to() {
    let receiver = Receiver::start(|_| ok("here")).await;
    let client = resolving(allowing(&["127.0.0.1"]), &["10.0.0.7", "127.0.0.1"]);
    let response = client.send(get(format!("http://both.test:{}/", receiver.port()))).await.unwrap();
    assert_eq!(response.address.unwrap().ip().to_string(), "127.0.0.1");
}

#[tokio::test]
async fn schemes_credentials_and_what_is_no_url_are_refused() {
    let client = Client::new(Policy::everything());
    for (url, code) in [
        ("file:///etc/passwd", "HTTP_SCHEME_REFUSED"),
        ("ftp://example.test/", "HTTP_SCHEME_REFUSED"),
        ("gopher://127.0.0.1:25/", "HTTP_SCHEME_REFUSED"),
        ("http://user:pass@example.test/", "HTTP_BAD_URL"),
        ("example.test/path", "HTTP_BAD_URL"),
        ("http://", "HTTP_BAD_URL"),
    ] {
        let error = client.send(get(url)).await.unwrap_err();
        assert_eq!(error.code(), code, "{url}: {error}");
        assert!(!error.to_string().contains("pass@"), "{error}");
    }
    let error = client.send(get(format!("http://x.test/{}", "a".repeat(9000)))).await.unwrap_err();
    assert!(error.to_string().contains("URL_BYTES"), "{error}");
}

#[tokio::test]
async fn a_redirect_to_a_refused_address_is_refused() {
    for target in ["http://169.254.169.254/latest", "http://[::1]/", "http://127.0.0.2/"] {
        let receiver = Receiver::start(move |_| redirect(302, target)).await;
        let allowed = format!("127.0.0.1:{}", receiver.port());
        let client = Client::new(allowing(&[&allowed]));
        let error = client.send(get(receiver.url("/"))).await.unwrap_err();
        assert_eq!(error.code(), "HTTP_ADDRESS_REFUSED", "{error}");
    }
    let receiver = Receiver::start(|_| redirect(302, "file:///etc/passwd")).await;
    let error = Client::new(Policy::everything()).send(get(receiver.url("/"))).await.unwrap_err();
    assert_eq!(error.code(), "HTTP_SCHEME_REFUSED");
}

#[tokio::test]
async fn another_port_of_an_allowed_host_is_another_address() {
    let receiver = Receiver::start(|_| ok("here")).await;
    let rule = format!("127.0.0.1:{}", receiver.port());
    let client = Client::new(allowing(&[&rule]));
    assert_eq!(client.send(get(receiver.url("/"))).await.unwrap().body, "here");
    assert_eq!(client.send(get("http://127.0.0.1:1/")).await.unwrap_err().code(), "HTTP_ADDRESS_REFUSED");
}

#[tokio::test]
async fn a_host_is_allowed_by_its_name_and_only_by_that() {
    let receiver = Receiver::start(|_| ok("here")).await;
    let client = resolving(allowing(&["*.inside.test"]), &["127.0.0.1"]);
    let url = |host: &str| format!("http://{host}:{}/", receiver.port());
    assert_eq!(client.send(get(url("db.INSIDE.test"))).await.unwrap().body, "here");
    for host in ["inside.test", "evilinside.test", "inside.test.evil.test"] {
        assert_eq!(client.send(get(url(host))).await.unwrap_err().code(), "HTTP_ADDRESS_REFUSED", "{host}");
    }
}

#[tokio::test]
async fn redirects_are_followed_up_to_a_bound_and_relative_ones_too() {
    let receiver = Receiver::start(|received| match received.path() {
        "/start?q=1" => redirect(307, "next"),
        "/next" => redirect(308, "/end"),
        "/end" => ok("arrived"),
        _ => redirect(302, "/round"),
    })
    .await;
    let client = Client::new(allowing(&["127.0.0.1"]));
    let response = client.send(get(receiver.url("/start?q=1"))).await.unwrap();
    assert_eq!((response.body, response.url), ("arrived".into(), receiver.url("/end")));
    let error = client.send(get(receiver.url("/round"))).await.unwrap_err();
    assert!(matches!(error, Error::TooManyRedirects { limit: 5, .. }), "{error}");
    let mut never = get(receiver.url("/next"));
    never.bounds.redirects = 0;
    assert_eq!(client.send(never).await.unwrap_err().code(), "HTTP_TOO_MANY_REDIRECTS");
}

#[tokio::test]
async fn another_origin_gets_neither_credentials_nor_secrets() {
    let other = Receiver::start(|received| ok(&received.head)).await;
    let target = other.url("/");
    let first = Receiver::start(move |_| redirect(307, &target)).await;
    let mut request = Request::new(Method::POST, first.url("/"));
    request.body = "body".into();
    request.headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer token"));
    request.headers.insert("x-plain", HeaderValue::from_static("plain"));
    let mut secret = HeaderValue::from_static("hidden");
    secret.set_sensitive(true);
    request.headers.insert("x-signature", secret);
    let response = Client::new(allowing(&["127.0.0.1"])).send(request).await.unwrap();
    let seen = String::from_utf8(response.body.to_vec()).unwrap();
    assert!(seen.starts_with("POST / ") && seen.contains("x-plain: plain"), "{seen}");
    assert!(!seen.contains("token") && !seen.contains("hidden"), "{seen}");
    assert!(first.received()[0].head.contains("Bearer token"));
}

#[tokio::test]
async fn a_response_that_is_too_large_is_not_read_to_its_end() {
    let client = Client::new(allowing(&["127.0.0.1"]));
    let told = Receiver::start(|_| ok(&"x".repeat(2000))).await;
    let untold =
        Receiver::start(|_| format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}", "x".repeat(2000)))
            .await;
    for receiver in [told, untold] {
        let mut request = get(receiver.url("/"));
        request.bounds.response_bytes = 1000;
        let error = client.send(request).await.unwrap_err();
        assert_eq!(error.code(), "HTTP_RESPONSE_TOO_LARGE");
        assert!(error.to_string().contains("1000 bytes"), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up_on() {
    let silent = Receiver::start(|_| String::new()).await;
    let mut request = get(silent.url("/"));
    request.bounds.whole = Duration::from_millis(50);
    let error = Client::new(allowing(&["127.0.0.1"])).send(request).await.unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
    assert!(error.is_passing() && error.may_have_arrived());
}

#[tokio::test]
async fn cut_connections_and_answers_that_are_no_http_are_told_apart() {
    let client = Client::new(allowing(&["127.0.0.1"]));
    let cut =
        Receiver::start(|_| "HTTP/1.1 200 OK\r\ncontent-length: 100\r\nconnection: close\r\n\r\nhalf".into())
            .await;
    assert_eq!(client.send(get(cut.url("/"))).await.unwrap_err().code(), "HTTP_CUT");
    let other = Receiver::start(|_| "220 mail.test ESMTP\r\nconnection: close\r\n\r\n".into()).await;
    assert_eq!(client.send(get(other.url("/"))).await.unwrap_err().code(), "HTTP_NOT_HTTP");
}

#[tokio::test]
async fn a_host_that_is_not_found_or_does_not_listen_is_named() {
    let client = resolving(Policy::default(), &[]);
    let error = client.send(get("http://nowhere.test/")).await.unwrap_err();
    assert!(matches!(&error, Error::UnknownHost { host, .. } if host == "nowhere.test"), "{error}");
    assert_eq!(client.send(get("http://empty.test/")).await.unwrap_err().code(), "HTTP_UNKNOWN_HOST");
    let port = Receiver::start(|_| String::new()).await.port();
    tokio::task::yield_now().await;
    let error =
        Client::new(Policy::everything()).send(get(format!("http://127.0.0.1:{port}/"))).await.unwrap_err();
    assert!(matches!(error, Error::NotConnected { .. }), "{error}");
    assert!(error.is_passing() && !error.may_have_arrived());
}

#[tokio::test]
async fn a_server_without_a_certificate_is_not_trusted() {
    let plain = Receiver::start(|_| ok("not TLS")).await;
    let url = plain.url("/").replace("http:", "https:");
    let error = Client::new(Policy::everything()).send(get(url)).await.unwrap_err();
    assert_eq!(error.code(), "HTTP_TLS", "{error}");
}

#[tokio::test]
async fn an_error_does_not_show_what_follows_the_path() {
    let silent = Receiver::start(|_| String::new()).await;
    let mut request = get(silent.url("/hook?token=hidden"));
    request.bounds.whole = Duration::from_millis(50);
    let error = Client::new(Policy::everything()).send(request).await.unwrap_err().to_string();
    assert!(error.contains("/hook") && !error.contains("hidden"), "{error}");
}
