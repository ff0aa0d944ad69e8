//! The listening server: takes connections up to a limit, gives each its time, and finishes what is in flight when it
//! is told to stop. Whoever has no key yet gives way to those who come, and to those who have one.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use abide_core::id::{KeyId, WorkspaceId};
use abide_engine::Engine;
use abide_engine::stored::{ApiKey, AuditNote, Scope};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, header};
use axum::middleware;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Mutex, oneshot, watch};
use tower_service::Service;

use crate::activity::Activity;
use crate::app::{App, Shared};
use crate::caller::{Callers, NewSecret};
use crate::connection::Connection;
use crate::endpoint::PREFIXES;
use crate::guard::{self, Peer, Visiting};
use crate::links::{self, Links};
use crate::metrics::Sampler;
use crate::own_routes::OwnRoutes;
use crate::problem::Problem;
use crate::proxy;
use crate::quotas::AllQuotas;
use crate::routes::{self, Lease, Sessions};
use crate::seldom::Seldom;
use crate::settings::{BadSettings, Settings};
use crate::strangers::{Strangers, Visitor};
use crate::traces::{Gatherer, Traces};
use crate::traffic::Traffic;

/// What the connection itself refuses without an explanation. Below it the guard refuses, and explains.
const RAW_HEADERS: usize = 256;
const RAW_HEADER_BYTES: usize = 40 * 1024;
/// Connections that wait to be accepted. Of clients that all come at once, those that find no room ask again only after
/// a second.
const BACKLOG: u32 = 4_096;
/// After accepting failed, for instance because there are no file descriptors left.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);
/// That it fails is said this often.
const SAY_SO_EVERY: Duration = Duration::from_secs(10);
/// Said to a connection over the limit.
const TURNED_AWAY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// A server that listens. It answers from [`Server::run`] on.
pub struct Server {
    listener: TcpListener,
    app: Shared,
    stop: watch::Sender<bool>,
    /// Who gathers spans, and how it is told to finish.
    gathering: Option<(Gatherer, oneshot::Sender<()>)>,
    guests: Vec<Guest>,
}

/// Routes of somebody else's clients, with credentials of their own. They pass the same checks of hosts and sizes.
#[derive(Clone)]
pub struct Guest {
    /// The routes. None of the server's own may be among them.
    pub router: Router,
    /// Whether a request shows the guest's credentials: its connection then keeps its place.
    pub admits: Arc<dyn Fn(&axum::http::HeaderMap) -> bool + Send + Sync>,
}

impl std::fmt::Debug for Guest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Guest")
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("listen", &self.app.settings.listen).finish_non_exhaustive()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Settings(#[from] BadSettings),
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, std::io::Error),
    #[error("{0}")]
    Engine(String),
}

impl From<Problem> for StartError {
    fn from(problem: Problem) -> StartError {
        StartError::Engine(problem.detail)
    }
}

impl Server {
    /// Checks the settings and takes the address.
    pub async fn bind(engine: Engine, mut settings: Settings) -> Result<Server, StartError> {
        settings.check()?;
        let listen = settings.listen;
        let listener = listen_on(listen).map_err(|error| StartError::Listen(listen, error))?;
        let address = listener.local_addr().map_err(|error| StartError::Listen(listen, error))?;
        settings.listen = address;
        let base_url = match &settings.public_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => format!("http://{address}"),
        };
        let links = Links::open(&engine).await?;
        let sessions = Sessions::new(engine.vault())?;
        let quotas = AllQuotas::open(&engine, settings.quotas).await?;
        let callers = Callers::new(&settings.limits);
        let (stop, stopping) = watch::channel(false);
        let (traces, gathering) = match settings.traces.as_deref().map(Traces::to) {
            Some((traces, gatherer, finish)) => (Some(traces), Some((gatherer, finish))),
            None => (None, None),
        };
        let app = App {
            engine,
            settings,
            base_url,
            links,
            sessions,
            callers,
            traffic: Traffic::default(),
            traces,
            backups: Mutex::default(),
            activity: Activity::default(),
            sampler: Sampler::default(),
            quotas,
            stopping,
        };
        let app = Arc::new(app);
        let sealing = Arc::downgrade(&app);
        app.engine.reports_at(
            format!("{}{}/tasks", app.base_url, PREFIXES[0]),
            move |workspace, run, at, lease_epoch| {
                let sealed =
                    sealing.upgrade().map(|app| app.seal_lease(workspace, Lease { run, at, lease_epoch }));
                sealed.unwrap_or_default()
            },
        );
        let linking = Arc::downgrade(&app);
        app.engine.links_by(Arc::new(move |waitpoint, generation, told| {
            let links = linking.upgrade().map(|app| app.links_to_tell(waitpoint, generation, told));
            serde_json::to_value(links.unwrap_or_default()).expect("links are JSON")
        }));
        Ok(Server { listener, app, stop, gathering, guests: Vec::new() })
    }

    /// Serves the routes of a guest, too.
    pub fn with_guest(mut self, guest: Guest) -> Server {
        self.guests.push(guest);
        self
    }

    /// The routes of the server itself, for a gateway in this process.
    pub fn own_routes(&self) -> OwnRoutes {
        OwnRoutes::new(router(&self.app, Vec::new()))
    }

    /// How others reach this server: the beginning of every URL that is given out.
    pub fn public_url(&self) -> &str {
        &self.app.base_url
    }

    /// Where it listens: with port 0, the one it was given.
    pub fn address(&self) -> SocketAddr {
        self.app.settings.listen
    }

    /// Serves until `stop` is done, then finishes what is in flight. The engine is left open.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Server { listener, app, stop: stopping, gathering, guests } = self;
        let gathering =
            gathering.map(|(gatherer, finish)| (tokio::spawn(gatherer.work(Shared::clone(&app))), finish));
        let router = router(&app, guests);
        let strangers = Arc::new(Strangers::new(&app.settings.limits_of_strangers()));
        let mut failures = Seldom::every(SAY_SO_EVERY);
        let graceful = GracefulShutdown::new();
        let watching = Shared::clone(&app);
        let watching = tokio::spawn(async move { watching.activity.watch(&watching.engine).await });
        let following = Shared::clone(&app);
        let following = tokio::spawn(async move {
            tokio::join!(
                following.links.follow(&following.engine),
                following.quotas.follow(&following.engine)
            )
        });
        tokio::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = listener.accept() => accepted,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    if let Some(unsaid) = failures.say(Instant::now()) {
                        tracing::warn!(%error, unlogged = unsaid, "a connection could not be accepted");
                    }
                    tokio::time::sleep(ACCEPT_AGAIN).await;
                    continue;
                }
            };
            let Some(visitor) = strangers.admit(peer.ip()).map(Arc::new) else {
                app.traffic.turned_away.fetch_add(1, Ordering::Relaxed);
                turn_away(stream);
                continue;
            };
            // All who come through it share its connections.
            if proxy::is_trusted(&app.settings.trusted_proxies, peer.ip()) {
                visitor.is_known_now();
            }
            // Small answers must not wait for the acknowledgement of earlier ones.
            drop(stream.set_nodelay(true));
            let connection = connection(&app, router.clone(), stream, peer, Arc::clone(&visitor));
            let (watched, app) = (graceful.watch(connection), Shared::clone(&app));
            tokio::spawn(async move {
                app.traffic.connections.fetch_add(1, Ordering::Relaxed);
                tokio::select! {
                    // Whatever went wrong, it is over: the caller hung up, or was too slow.
                    over = watched => drop(over),
                    () = visitor.turned_out() => {
                        app.traffic.turned_out.fetch_add(1, Ordering::Relaxed);
                    }
                }
                app.traffic.connections.fetch_sub(1, Ordering::Relaxed);
            });
        }
        drop(listener);
        watching.abort();
        following.abort();
        stopping.send_replace(true);
        let shutdown_time = app.settings.limits.shutdown_time;
        if tokio::time::timeout(shutdown_time, graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests did not end in time and are dropped");
        }
        if let Some((gathering, finish)) = gathering {
            // If it is gone, there is nothing to finish.
            let _ = finish.send(());
            drop(gathering.await);
        }
    }
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // After a restart the address is free at once. Elsewhere it would let two servers share it.
    if cfg!(unix) {
        socket.set_reuseaddr(true)?;
    }
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn router(app: &Shared, guests: Vec<Guest>) -> Router {
    let mut own = routes::all().into_router(app);
    for Guest { router, admits } in guests {
        let known = middleware::from_fn(move |request: axum::extract::Request, next: middleware::Next| {
            if admits(request.headers()) {
                guard::is_known_now(&request);
            }
            next.run(request)
        });
        own = own.merge(router.layer(known).with_state(()));
    }
    own.fallback(routes::elsewhere)
        .method_not_allowed_fallback(routes::method_not_allowed)
        .layer(middleware::from_fn_with_state(Shared::clone(app), guard::around))
        .with_state(Shared::clone(app))
}

fn connection(
    app: &App,
    router: Router,
    stream: TcpStream,
    peer: SocketAddr,
    visitor: Arc<Visitor>,
) -> impl GracefulConnection<Error = hyper::Error> + use<> {
    let limits = &app.settings.limits;
    let stream = Connection::new(stream, Arc::clone(&visitor), limits.write_time);
    let (begun, age) = (Instant::now(), limits.connection_age);
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(Peer(peer));
        request.extensions_mut().insert(Visiting(Arc::clone(&visitor)));
        let (mut router, visitor) = (router.clone(), Arc::clone(&visitor));
        async move {
            let mut response = router.call(request).await.unwrap_or_else(|never| match never {});
            visitor.forget_bytes();
            if begun.elapsed() >= age {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_time)
        .max_headers(RAW_HEADERS)
        .max_buf_size(RAW_HEADER_BYTES)
        .half_close(false)
        .serve_connection(TokioIo::new(stream), service)
}

/// Without waiting for anything: a caller that does not read is not waited for.
fn turn_away(stream: TcpStream) {
    tokio::spawn(async move {
        let mut stream = stream;
        drop(tokio::time::timeout(Duration::from_secs(1), stream.write_all(TURNED_AWAY)).await);
    });
}

/// Makes the first admin key of a store that has none, and gives its secret: it is shown once.
pub async fn first_key(engine: &Engine) -> Result<Option<String>, StartError> {
    let failed = |problem: Problem| StartError::from(problem);
    let now = engine.now();
    let secret = NewSecret::make().map_err(failed)?;
    let mut random = [0; 16];
    links::fill(&mut random).map_err(failed)?;
    let key = ApiKey {
        id: KeyId::new(now, u128::from_be_bytes(random)),
        workspace: WorkspaceId::DEFAULT,
        name: "admin".to_owned(),
        hash: secret.hash,
        prefix: secret.prefix,
        scopes: [Scope::Admin].into(),
        created_at: now,
        last_used_at: None,
        revoked_at: None,
        expires_at: None,
    };
    let note = AuditNote {
        at: now,
        workspace: key.workspace,
        by: "server".to_owned(),
        key: None,
        address: None,
        request_id: None,
        action: "key.made".to_owned(),
        target: "the first key".to_owned(),
        detail: json!({ "id": key.id.to_string(), "name": key.name, "scopes": key.scopes }),
    };
    let is_first = engine.admin().add_first_key(key, note).await.map_err(|error| failed(error.into()))?;
    Ok(is_first.then_some(secret.secret))
}
