//! The connection. It is driven by a thread that a store and its readers share, so that a call can wait for it wherever
//! it is made, inside of somebody's runtime too. A connection that was lost is replaced when the next call needs one.
//!
//! ```text
//!   store  ─┐ statements             ┌─ socket ─▶ server
//!   reader ─┼─────────▶ one driver ──┼─ socket ─▶ server
//!   reader ─┘ ◀───────── answers     └─ socket ─▶ server
//! ```

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use abide_core::id::WorkspaceId;
use futures_util::StreamExt;
use futures_util::future::{OptionFuture, join, join_all};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row, RowStream, Statement};

use crate::Error;
use crate::postgres::event_snapshots::SnapshotLog;
use crate::postgres::notifications::Notifier;
use crate::postgres::open::Address;

/// More than there are statements in ordinary use, so that each is compiled once. Lists have many forms.
const STATEMENTS: usize = 256;

/// How a session is set up.
///
/// Every statement is made for an index, and the planner is kept from looking for other ways: a plan is made once and
/// does not change with what the statistics say. A transaction that its process left in the middle, because it was
/// stopped or is gone, lets go of its locks soon.
const SESSION: &str = "
    SET search_path = abide, pg_temp;
    SET default_transaction_isolation = 'read committed';
    SET idle_in_transaction_session_timeout = '10s';
    SET jit = off;
    SET plan_cache_mode = force_generic_plan;
    SET enable_seqscan = off;
    SET enable_bitmapscan = off;
    SET enable_hashjoin = off;
    SET enable_mergejoin = off;
    SET join_collapse_limit = 1;
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
";

/// The thread that drives connections. It ends with the last that uses it.
#[derive(Debug)]
pub(super) struct Driver {
    runtime: Handle,
    statements: Sent,
    _end: oneshot::Sender<()>,
}

/// How many statements a store and all that belongs to it have sent.
#[derive(Clone, Debug, Default)]
pub struct Sent(Arc<AtomicU64>);

impl Sent {
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, statements: usize) {
        self.0.fetch_add(statements as u64, Ordering::Relaxed);
    }
}

impl Driver {
    pub(super) fn statements(&self) -> Sent {
        self.statements.clone()
    }

    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        drop(self.runtime.spawn(work));
    }

    pub(super) fn start() -> Result<Driver, Error> {
        let not_started = |error: std::io::Error| Error::Unavailable(error.to_string());
        let runtime = Builder::new_current_thread().enable_all().build().map_err(not_started)?;
        let (handle, (end, ended)) = (runtime.handle().clone(), oneshot::channel());
        let drive = move || {
            // The other half is never sent anything, it is dropped.
            let _ = runtime.block_on(ended);
        };
        thread::Builder::new().name("abide-postgres".to_owned()).spawn(drive).map_err(not_started)?;
        Ok(Driver { runtime: handle, statements: Sent::default(), _end: end })
    }

    /// The answer comes through a channel of the standard library: one of tokio's might ask a task that waits here to
    /// come back later.
    pub(super) fn connect(&self, address: &Address) -> Result<Client, tokio_postgres::Error> {
        let (address, (answer, answered)) = (address.clone(), mpsc::sync_channel(1));
        self.runtime.spawn(async move {
            match address.connect().await {
                Ok((client, connection)) => {
                    let _ = answer.send(Ok(client));
                    // Whoever has the client hears of it if the connection is lost.
                    let _ = connection.await;
                }
                Err(error) => {
                    let _ = answer.send(Err(error));
                }
            }
        });
        answered.recv().expect("the driver lives as long as this reference to it")
    }
}

/// Waits for what another thread drives.
pub(super) fn wait<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (mut future, mut context) = (pin!(future), Context::from_waker(&waker));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park(),
        }
    }
}

/// A place to connect to, and the session there while there is one.
#[derive(Debug)]
pub(super) struct PgConnection {
    pub(super) driver: Arc<Driver>,
    pub(super) address: Arc<Address>,
    pub(super) snapshots: Arc<SnapshotLog>,
    /// Where there is one, other nodes are notified of what is committed.
    pub(super) notifier: Arc<OnceLock<Notifier>>,
    role: Role,
    pub(super) session: Option<Session>,
    /// How often the connection was opened.
    connections: u64,
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Writes,
    Reads,
    /// Writes what need not be synced.
    Unsynced,
}

impl PgConnection {
    pub(super) fn new(driver: Driver, address: Address) -> PgConnection {
        PgConnection {
            driver: Arc::new(driver),
            address: Arc::new(address),
            snapshots: Arc::default(),
            notifier: Arc::default(),
            role: Role::Writes,
            session: None,
            connections: 0,
        }
    }

    /// To the same place, for one who writes, too.
    pub(super) fn writing(&self) -> PgConnection {
        self.snapshots.add_writer();
        self.another(Role::Writes)
    }

    /// To the same place, for one who reads.
    pub(super) fn reading(&self) -> PgConnection {
        self.another(Role::Reads)
    }

    /// To the same place, for what need not be synced.
    pub(super) fn unsynced(&self) -> PgConnection {
        self.another(Role::Unsynced)
    }

    fn another(&self, role: Role) -> PgConnection {
        PgConnection {
            driver: Arc::clone(&self.driver),
            address: Arc::clone(&self.address),
            snapshots: Arc::clone(&self.snapshots),
            notifier: Arc::clone(&self.notifier),
            role,
            session: None,
            connections: 0,
        }
    }

    pub(super) fn connect(&mut self) -> Result<(), tokio_postgres::Error> {
        let client = self.driver.connect(&self.address)?;
        wait(client.batch_execute(SESSION))?;
        match self.role {
            Role::Writes => self.snapshots.invalidate(),
            Role::Reads => wait(client.batch_execute("SET default_transaction_read_only = on"))?,
            Role::Unsynced => wait(client.batch_execute("SET synchronous_commit = off"))?,
        }
        self.connections += 1;
        self.session = Some(Session::new(client, self.connections, self.driver.statements()));
        Ok(())
    }

    /// Connects where there is no connection, and says which it is.
    pub(super) fn connection_number(&mut self) -> Result<u64, Error> {
        self.ask(async |session| Ok(session.connection_number))
    }

    /// Does the work in the session, after connecting where there is none.
    pub(super) fn ask<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Session) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.session.as_ref().is_none_or(Session::is_lost) {
            self.connect()?;
        }
        let session = self.session.as_mut().expect("there is one, or connecting failed");
        let result = wait(work(session));
        if session.is_lost() {
            self.session = None;
        }
        result
    }
}

/// A value to send.
pub(super) type Value<'a> = Box<dyn ToSql + Sync + Send + 'a>;

/// Values for a [`Step`], in order.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$(Box::new($value) as $crate::postgres::connection::Value<'_>),*]
    };
}
pub(super) use values;

/// A statement and its values.
pub(super) struct Step<'a> {
    pub(super) sql: Cow<'static, str>,
    pub(super) values: Vec<Value<'a>>,
}

/// What a statement came to.
pub(super) struct Answer {
    pub(super) rows: Vec<Row>,
    pub(super) affected: u64,
}

pub(super) struct Session {
    pub(super) client: Client,
    /// Which of its connections this session is.
    pub(super) connection_number: u64,
    pub(super) statements: HashMap<String, Statement>,
    /// Those that are known to be there. None is ever removed.
    pub(super) workspaces: BTreeSet<WorkspaceId>,
    sent: Sent,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("statements", &self.statements.len()).finish_non_exhaustive()
    }
}

impl Session {
    fn new(client: Client, connection_number: u64, sent: Sent) -> Session {
        let workspaces = [WorkspaceId::DEFAULT].into();
        Session { client, connection_number, statements: HashMap::new(), workspaces, sent }
    }

    fn is_lost(&self) -> bool {
        self.client.is_closed()
    }

    /// The statement, compiled.
    async fn statement(&mut self, sql: &str) -> Result<Statement, tokio_postgres::Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await?;
        if self.statements.len() >= STATEMENTS {
            self.statements.clear();
        }
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Statements without values, one after the other.
    pub(super) async fn run(&self, sql: &str) -> Result<(), Error> {
        self.sent.add(1);
        Ok(self.client.batch_execute(sql).await?)
    }

    pub(super) async fn rows(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        let statement = self.statement(sql).await?;
        self.sent.add(1);
        Ok(self.client.query(&statement, values).await?)
    }

    pub(super) async fn first(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Option<Row>, Error> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// The one row that there always is.
    pub(super) async fn one(&mut self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Row, Error> {
        let found = self.first(sql, values).await?;
        found.ok_or_else(|| Error::Corrupt(format!("no answer to {sql}")))
    }

    /// How many rows were written.
    pub(super) async fn count(&mut self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, Error> {
        let statement = self.statement(sql).await?;
        self.sent.add(1);
        Ok(self.client.execute(&statement, values).await?)
    }

    /// The rows one by one, as they come.
    pub(super) async fn stream(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<RowStream, Error> {
        let statement = self.statement(sql).await?;
        self.sent.add(1);
        Ok(self.client.query_raw(&statement, values.iter().copied()).await?)
    }

    /// The types of the columns that a query gives.
    pub(super) async fn types(&mut self, sql: &str) -> Result<Vec<Type>, Error> {
        let statement = self.statement(sql).await?;
        Ok(statement.columns().iter().map(|column| column.type_().clone()).collect())
    }

    /// Sends statements without waiting for the answers in between, after `begin` if there is one. When one fails, its
    /// error is the answer.
    pub(super) async fn pipeline(
        &mut self,
        begin: Option<&str>,
        steps: &[Step<'_>],
    ) -> Result<Vec<Answer>, tokio_postgres::Error> {
        let mut statements = Vec::with_capacity(steps.len());
        for step in steps {
            statements.push(self.statement(&step.sql).await?);
        }
        self.sent.add(steps.len() + usize::from(begin.is_some()));
        // A future sends its statement when it is polled first, and they are polled in this order.
        let asked = steps.iter().zip(&statements).map(|(step, statement)| self.step(step, statement));
        let begin = OptionFuture::from(begin.map(|begin| self.client.batch_execute(begin)));
        let (begun, answers) = join(begin, join_all(asked)).await;
        begun.transpose()?;
        answers.into_iter().collect()
    }

    async fn step(&self, step: &Step<'_>, statement: &Statement) -> Result<Answer, tokio_postgres::Error> {
        let values = step.values.iter().map(|value| &**value as &(dyn ToSql + Sync));
        let mut stream = pin!(self.client.query_raw(statement, values).await?);
        let mut rows = Vec::new();
        while let Some(row) = stream.next().await.transpose()? {
            rows.push(row);
        }
        Ok(Answer { rows, affected: stream.rows_affected().unwrap_or(0) })
    }

    /// Does the work in a transaction, which is rolled back if the work fails.
    pub(super) async fn transaction<T>(
        &mut self,
        begin: &str,
        work: impl AsyncFnOnce(&mut Session) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.run(begin).await?;
        let result = work(self).await;
        match result {
            Ok(result) => {
                self.run("COMMIT").await?;
                Ok(result)
            }
            Err(error) => {
                self.roll_back().await;
                Err(error)
            }
        }
    }

    /// If that fails, the connection is lost, and the transaction with it.
    pub(super) async fn roll_back(&self) {
        let _ = self.run("ROLLBACK").await;
    }
}
