//! The client: the whole HTTP API by its resources, and what most programs need of it: `start`, `start_and_wait`,
//! `signal` and `notify`.

use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::TryStreamExt;
use reqwest::{Certificate, Method};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::problem::{Error, RunNotCompleted};
use crate::resources::{
    Admin, Approvals, Definitions, Events, Limits, Runs, Schedules, Tasks, TestClock, Triggers, Waitpoints,
    Webhooks, has_ended,
};
use crate::stream::{Follower, Items};
use crate::transport::{ApiKey, Request, Transport, at, innermost};
use crate::wire::{self, Json, RunStatus};

const DEFAULT_URL: &str = "http://127.0.0.1:22433";
const DEFAULT_RETRIES: u32 = 4;
/// How long a start waits for the result before the run is followed instead.
const START_WAIT: &str = "30s";

/// A client of one server. A clone is the same client.
#[derive(Debug, Clone)]
pub struct Client {
    transport: Arc<Transport>,
    key: Option<Arc<str>>,
    traceparent: Option<Arc<str>>,
}

/// How a client is made.
#[derive(Debug, Clone, Default)]
pub struct ClientBuilder {
    url: Option<String>,
    api_key: Option<ApiKey>,
    retries: Option<u32>,
    certificates: Vec<Certificate>,
}

impl ClientBuilder {
    /// Where the server is; `ABIDE_SERVER`, or this machine, if absent.
    pub fn url(mut self, url: impl Into<String>) -> ClientBuilder {
        self.url = Some(url.into());
        self
    }

    /// An API key; `ABIDE_API_KEY` if absent.
    pub fn api_key(mut self, key: impl Into<String>) -> ClientBuilder {
        self.api_key = Some(ApiKey(key.into()));
        self
    }

    /// How often a request that may be repeated is tried again; 4 if absent.
    pub fn retries(mut self, retries: u32) -> ClientBuilder {
        self.retries = Some(retries);
        self
    }

    /// Certificates to trust besides those of the machine, as PEM: for a server behind https with one of your own.
    pub fn certificates(mut self, pem: &[u8]) -> Result<ClientBuilder, Error> {
        let found = Certificate::from_pem_bundle(pem);
        self.certificates = found.map_err(|error| Error::Unusable(innermost(&error)))?;
        if self.certificates.is_empty() {
            return Err(Error::Unusable(
                "there is no certificate in it; it would begin with `-----BEGIN CERTIFICATE-----`".to_owned(),
            ));
        }
        Ok(self)
    }

    /// The client. Nothing is sent yet.
    pub fn build(self) -> Result<Client, Error> {
        let given = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let url = self.url.or_else(|| given("ABIDE_SERVER")).unwrap_or_else(|| DEFAULT_URL.to_owned());
        let api_key = self.api_key.or_else(|| given("ABIDE_API_KEY").map(ApiKey));
        let retries = self.retries.unwrap_or(DEFAULT_RETRIES);
        let transport = Transport::new(&url, api_key, retries, self.certificates)?;
        Ok(Client { transport: Arc::new(transport), key: None, traceparent: None })
    }
}

impl Client {
    /// The server and the key of the environment: `ABIDE_SERVER`, `ABIDE_API_KEY`.
    pub fn from_env() -> Result<Client, Error> {
        Client::builder().build()
    }

    /// A client of the server at this URL.
    pub fn at(url: impl Into<String>) -> Result<Client, Error> {
        Client::builder().url(url).build()
    }

    /// A client with settings of its own.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Where the server is.
    pub fn server(&self) -> &str {
        &self.transport.server
    }

    /// The same client, for one request under this idempotency key. However often it is sent, it is done once.
    pub fn keyed(&self, key: impl Into<Arc<str>>) -> Client {
        Client { key: Some(key.into()), ..self.clone() }
    }

    /// The same client, for requests that belong to a trace: a W3C `traceparent`.
    pub fn traced(&self, traceparent: impl Into<Arc<str>>) -> Client {
        Client { traceparent: Some(traceparent.into()), ..self.clone() }
    }

    /// Workflows.
    pub fn definitions(&self) -> Definitions<'_> {
        Definitions(self)
    }

    /// Runs and their histories.
    pub fn runs(&self) -> Runs<'_> {
        Runs(self)
    }

    /// Everything that waits.
    pub fn waitpoints(&self) -> Waitpoints<'_> {
        Waitpoints(self)
    }

    /// Events to everyone.
    pub fn events(&self) -> Events<'_> {
        Events(self)
    }

    /// What people are to decide.
    pub fn approvals(&self) -> Approvals<'_> {
        Approvals(self)
    }

    /// Runs that are started by a call.
    pub fn triggers(&self) -> Triggers<'_> {
        Triggers(self)
    }

    /// Limits: who has room, who waits for it, and what is set at run time.
    pub fn limits(&self) -> Limits<'_> {
        Limits(self)
    }

    /// Workflows that start again and again, by the clock.
    pub fn schedules(&self) -> Schedules<'_> {
        Schedules(self)
    }

    /// URLs of yours that are told what happens.
    pub fn webhooks(&self) -> Webhooks<'_> {
        Webhooks(self)
    }

    /// Work, as a worker takes and reports it.
    pub fn tasks(&self) -> Tasks<'_> {
        Tasks(self)
    }

    /// Keys, workspaces, and how it goes.
    pub fn admin(&self) -> Admin<'_> {
        Admin(self)
    }

    /// The clock of a server that was started with `--test-clock`.
    pub fn test_clock(&self) -> TestClock<'_> {
        TestClock(self)
    }

    /// Stores a workflow: one that was built, or a [`wire::Workflow`].
    pub async fn deploy(&self, workflow: &impl Serialize) -> Result<wire::DeployedDefinition, Error> {
        self.definitions().deploy(workflow).await
    }

    /// Starts a run. When this returns, it is on disk. [`Runs::start`] takes a version, tags and an instant, too.
    pub async fn start<W>(&self, workflow: &W, input: W::Input) -> Result<RunHandle<W::Output>, Error>
    where
        W: WorkflowRef + ?Sized,
    {
        let started = self.runs().start(&start_of(workflow, input)?).await?;
        Ok(self.run(started.id))
    }

    /// Starts a run for each input, with one request: up to 5,000, of together 8 MiB. Each has its own answer, in the same
    /// order; one that is refused hinders no other. [`Runs::start_many`] takes versions, keys, tags and instants, too.
    pub async fn start_many<W>(
        &self,
        workflow: &W,
        inputs: impl IntoIterator<Item = W::Input>,
    ) -> Result<wire::StartedRuns, Error>
    where
        W: WorkflowRef + ?Sized,
    {
        let runs: Result<Vec<_>, Error> = inputs.into_iter().map(|input| start_of(workflow, input)).collect();
        self.runs().start_many(&runs?).await
    }

    /// Starts a run and returns its output. A run that does not complete is an [`Error::RunNotCompleted`].
    pub async fn start_and_wait<W>(&self, workflow: &W, input: W::Input) -> Result<W::Output, Error>
    where
        W: WorkflowRef + ?Sized,
    {
        let request = self.post(at(&["workflow-runs"])).body(&start_of(workflow, input)?)?;
        let request = request.query(&serde_json::json!({"wait": START_WAIT}))?;
        let run: wire::Run = self.transport.json(self.with_key(request)).await?;
        output_of(if has_ended(run.status) { run } else { self.runs().wait(&run.id).await? })
    }

    /// A run that was started before.
    pub fn run<O>(&self, id: impl Into<String>) -> RunHandle<O> {
        RunHandle { client: self.clone(), id: id.into(), output: PhantomData }
    }

    /// Sends a signal to a run.
    pub async fn signal(
        &self,
        run_id: &str,
        signal_type: &str,
        payload: impl Serialize,
    ) -> Result<wire::Signalled, Error> {
        self.runs().signal(run_id, signal_type, payload).await
    }

    /// Sends an event to everyone who waits for it, now or later.
    pub async fn notify(&self, event_id: &str, data: impl Serialize) -> Result<wire::EventSent, Error> {
        self.events().send(&wire::SendEvent::new(event_id).event_data(json_of(data)?)).await
    }

    /// Every change of every run of the workspace, from now on.
    pub fn feed(&self) -> Items<Change> {
        let request = self.get(at(&["feed"]));
        let events = Follower::new(self, request, |_| false, None).events();
        Items::new(events.and_then(async |event| {
            let bad = |error| Error::not_json("a change", &error);
            if event.event == "missed" {
                return Ok(Change::Missed(serde_json::from_str(&event.data).map_err(bad)?));
            }
            serde_json::from_str(&event.data).map(Change::Run).map_err(bad)
        }))
    }

    pub(crate) fn transport(&self) -> &Transport {
        &self.transport
    }

    pub(crate) fn request(&self, method: Method, path: impl Into<String>) -> Request {
        Request::new(method, path).traced(self.traceparent.as_deref())
    }

    pub(crate) fn get(&self, path: impl Into<String>) -> Request {
        self.request(Method::GET, path)
    }

    pub(crate) fn post(&self, path: impl Into<String>) -> Request {
        self.request(Method::POST, path)
    }

    /// Under this client's key, or one that is made up: it may be repeated.
    pub(crate) fn with_key(&self, request: Request) -> Request {
        request.keyed(self.key.as_deref())
    }
}

/// Something that changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A run is different from before.
    Run(ChangedRun),
    /// There were so many more, and the lists should be read again.
    Missed(u64),
}

/// A run that has changed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedRun {
    /// Which.
    pub run_id: String,
    /// What it is.
    pub status: RunStatus,
    /// How many records its history has.
    pub version: u64,
}

/// A workflow by its name, or as it was built.
pub trait WorkflowRef {
    /// What its runs are given.
    type Input: Serialize;
    /// What its runs give.
    type Output: DeserializeOwned;

    /// The name of the workflow.
    fn name(&self) -> &str;
}

impl WorkflowRef for str {
    type Input = Json;
    type Output = Json;

    fn name(&self) -> &str {
        self
    }
}

impl WorkflowRef for String {
    type Input = Json;
    type Output = Json;

    fn name(&self) -> &str {
        self
    }
}

/// A run that was started.
#[derive(Debug, Clone)]
pub struct RunHandle<O = Json> {
    client: Client,
    id: String,
    output: PhantomData<fn() -> O>,
}

impl<O> RunHandle<O> {
    /// The run's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// As it is.
    pub async fn get(&self) -> Result<wire::Run, Error> {
        self.client.runs().find(&self.id).await
    }

    /// Sends it a signal.
    pub async fn signal(&self, signal_type: &str, payload: impl Serialize) -> Result<wire::Signalled, Error> {
        self.client.runs().signal(&self.id, signal_type, payload).await
    }

    /// Cancels it. The reason stands in its history.
    pub async fn cancel(&self, reason: impl Into<Option<&str>>) -> Result<wire::CommandedRun, Error> {
        self.client.runs().cancel(&self.id, reason).await
    }

    /// What has happened, then what happens, until it has ended.
    pub fn follow(&self) -> Items<wire::HistoryRecord> {
        self.client.runs().follow(&self.id, 0)
    }
}

impl<O> AsRef<str> for RunHandle<O> {
    fn as_ref(&self) -> &str {
        &self.id
    }
}

impl<O: DeserializeOwned> RunHandle<O> {
    /// The run's output, when it has ended. A run that does not complete is an [`Error::RunNotCompleted`].
    pub async fn result(&self) -> Result<O, Error> {
        output_of(self.client.runs().wait(&self.id).await?)
    }
}

pub(crate) fn json_of(value: impl Serialize) -> Result<Json, Error> {
    serde_json::to_value(value).map_err(|error| Error::not_json("what was given", &error))
}

fn start_of<W: WorkflowRef + ?Sized>(workflow: &W, input: W::Input) -> Result<wire::StartRun, Error> {
    Ok(wire::StartRun::default().name(workflow.name()).input(json_of(input)?))
}

fn output_of<O: DeserializeOwned>(run: wire::Run) -> Result<O, Error> {
    if run.status != RunStatus::Completed {
        return Err(Error::RunNotCompleted(Box::new(RunNotCompleted::new(run))));
    }
    let what = format!("the output of {}", run.id);
    serde_json::from_value(run.output).map_err(|error| Error::not_json(what, &error))
}
