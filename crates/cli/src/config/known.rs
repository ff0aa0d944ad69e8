//! The settings there are.

use std::path::PathBuf;

use clap::Args;

pub(crate) struct Known {
    /// In the file. The flag has hyphens, the variable is `ABIDE_…` in capitals.
    pub(crate) name: &'static str,
    pub(crate) default: &'static str,
}

const fn known(name: &'static str, default: &'static str) -> Known {
    Known { name, default }
}

pub(crate) const KNOWN: [Known; 36] = [
    known("listen", "127.0.0.1:22433"),
    known("store", "sqlite:abide.db"),
    known("auth", "loopback"),
    known("allow_everyone", "false"),
    known("public_url", ""),
    known("allow_host", ""),
    known("trusted_proxy", ""),
    known("allow_origin", ""),
    known("max_connections", "20000"),
    known("max_connections_per_address", "1000"),
    known("requests_per_second", "50000"),
    known("quota_open_runs", "none"),
    known("quota_stored_bytes", "none"),
    known("quota_starts_per_second", "none"),
    known("quota_calls", "none"),
    known("quota_schedules", "1000"),
    known("quota_webhooks", "100"),
    known("shutdown_time", "10s"),
    known("keep_runs", "for ever"),
    known("keep_events", "30d"),
    known("keep_events_at_most", "for ever"),
    known("keep_keys", "30d"),
    known("keep_deliveries", "30d"),
    known("max_wait", "365d"),
    known("traces", ""),
    known("secrets_file", ""),
    known("master_key_file", ""),
    known("allow_address", ""),
    known("provider", ""),
    known("model", ""),
    known("handler_url", ""),
    known("mcp", "true"),
    known("upstash", "false"),
    known("upstash_dev", "false"),
    known("log", "info"),
    known("log_format", "text"),
];

impl Known {
    pub(crate) fn variable(&self) -> String {
        format!("ABIDE_{}", self.name.to_uppercase())
    }
}

/// The flags of `abide serve` and `abide config`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Flags {
    /// The file with settings; `abide.toml` if there is one [env: ABIDE_CONFIG]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The address to listen on; port 0 takes any [env: ABIDE_LISTEN] [default: 127.0.0.1:22433]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Where runs are kept: `sqlite:PATH`, or `postgres://…` for any number of nodes [env: ABIDE_STORE] [default: sqlite:abide.db]
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// `required`: every request needs a key; `loopback`: none is needed on this machine [env: ABIDE_AUTH] [default: loopback]
    #[arg(long, value_name = "WHEN")]
    auth: Option<String>,
    /// Serve without keys where others can connect: everyone who does can do everything [env: ABIDE_ALLOW_EVERYONE]
    #[arg(long)]
    allow_everyone: bool,
    /// How others reach this server: the beginning of every resume URL [env: ABIDE_PUBLIC_URL]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// A name that the Host header may have; may be given more than once [env: ABIDE_ALLOW_HOST, with commas]
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// A proxy that says truly who sent a request, such as 10.0.0.5 or 10.0.0.0/8: X-Forwarded-For and Forwarded are
    /// read from it; may be given more than once [env: ABIDE_TRUSTED_PROXY, with commas]
    #[arg(long, value_name = "NETWORK")]
    trusted_proxy: Vec<String>,
    /// An origin whose web pages may use the API; may be given more than once [env: ABIDE_ALLOW_ORIGIN, with commas]
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// Open connections at most [env: ABIDE_MAX_CONNECTIONS] [default: 20000]
    #[arg(long, value_name = "COUNT")]
    max_connections: Option<String>,
    /// Open connections of one address that have not shown a key or a link; 0 for any number
    /// [env: ABIDE_MAX_CONNECTIONS_PER_ADDRESS] [default: 1000]
    #[arg(long, value_name = "COUNT")]
    max_connections_per_address: Option<String>,
    /// Requests a second for each key or address; 0 for no limit [env: ABIDE_REQUESTS_PER_SECOND] [default: 50000]
    #[arg(long, value_name = "COUNT")]
    requests_per_second: Option<String>,
    /// Runs that have not ended, of a workspace that has no quota of its own [env: ABIDE_QUOTA_OPEN_RUNS] [default: none]
    #[arg(long, value_name = "COUNT")]
    quota_open_runs: Option<String>,
    /// Bytes that the histories and events of such a workspace take [env: ABIDE_QUOTA_STORED_BYTES] [default: none]
    #[arg(long, value_name = "BYTES")]
    quota_stored_bytes: Option<String>,
    /// Runs started in a second, of such a workspace [env: ABIDE_QUOTA_STARTS_PER_SECOND] [default: none]
    #[arg(long, value_name = "COUNT")]
    quota_starts_per_second: Option<String>,
    /// Calls of one kind at the same time, of such a workspace [env: ABIDE_QUOTA_CALLS] [default: none]
    #[arg(long, value_name = "COUNT")]
    quota_calls: Option<String>,
    /// Schedules of such a workspace [env: ABIDE_QUOTA_SCHEDULES] [default: 1000]
    #[arg(long, value_name = "COUNT")]
    quota_schedules: Option<String>,
    /// Webhooks of such a workspace [env: ABIDE_QUOTA_WEBHOOKS] [default: 100]
    #[arg(long, value_name = "COUNT")]
    quota_webhooks: Option<String>,
    /// How long a shutdown waits for what is in flight [env: ABIDE_SHUTDOWN_TIME] [default: 10s]
    #[arg(long, value_name = "DURATION")]
    shutdown_time: Option<String>,
    /// How long ended runs are kept [env: ABIDE_KEEP_RUNS] [default: for ever]
    #[arg(long, value_name = "DURATION")]
    keep_runs: Option<String>,
    /// How long events are kept; longer where an open run may still come to them [env: ABIDE_KEEP_EVENTS] [default: 30d]
    #[arg(long, value_name = "DURATION")]
    keep_events: Option<String>,
    /// How long events are kept even if an open run may still come to them; its wait says so [env: ABIDE_KEEP_EVENTS_AT_MOST]
    /// [default: for ever]
    #[arg(long, value_name = "DURATION")]
    keep_events_at_most: Option<String>,
    /// How long idempotency keys are kept, after their run has ended [env: ABIDE_KEEP_KEYS] [default: 30d]
    #[arg(long, value_name = "DURATION")]
    keep_keys: Option<String>,
    /// How long webhook deliveries are kept [env: ABIDE_KEEP_DELIVERIES] [default: 30d]
    #[arg(long, value_name = "DURATION")]
    keep_deliveries: Option<String>,
    /// The longest that a wait may take, a deadline may be ahead, or a start may be delayed [env: ABIDE_MAX_WAIT] [default: 365d]
    #[arg(long, value_name = "DURATION")]
    max_wait: Option<String>,
    /// Where OpenTelemetry traces go: a collector that takes OTLP over HTTP, such as http://127.0.0.1:4318 [env: ABIDE_TRACES]
    #[arg(long, value_name = "URL")]
    traces: Option<String>,
    /// A TOML or JSON file with secrets by workspace and the hosts they may be sent to, besides ABIDE_SECRET_NAME and
    /// ABIDE_SECRET_HOSTS_NAME in the environment [env: ABIDE_SECRETS_FILE]
    #[arg(long, value_name = "FILE")]
    secrets_file: Option<String>,
    /// A file with the master key, under which the store's own secrets are sealed; or ABIDE_MASTER_KEY in the environment
    /// [env: ABIDE_MASTER_KEY_FILE]
    #[arg(long, value_name = "FILE")]
    master_key_file: Option<String>,
    /// A private address that `http` steps, handlers' URLs and webhooks may reach, such as 10.0.0.0/8 or 127.0.0.1:8080; may be
    /// given more than once [env: ABIDE_ALLOW_ADDRESS, with commas]
    #[arg(long, value_name = "ADDRESS")]
    allow_address: Vec<String>,
    /// Who serves models: openai_responses, openai_chat, openai_compatible or anthropic; may be given more than once
    /// [env: ABIDE_PROVIDER, with commas]
    #[arg(long, value_name = "NAME=PROTOCOL[@URL]")]
    provider: Vec<String>,
    /// A model by the name that workflows use, and its price in millionths for a million tokens; may be given more than
    /// once [env: ABIDE_MODEL, with commas]
    #[arg(long, value_name = "NAME=PROVIDER/MODEL[@INPUT:OUTPUT[:CACHED]]")]
    model: Vec<String>,
    /// A handler that the server calls at a URL; may be given more than once [env: ABIDE_HANDLER_URL, with commas]
    #[arg(long, value_name = "NAME=URL")]
    handler_url: Vec<String>,
    /// Whether clients of the Model Context Protocol are served at `/mcp` [env: ABIDE_MCP] [default: true]
    #[arg(long, value_name = "WHETHER")]
    mcp: Option<String>,
    /// Serve apps of the Upstash Workflow SDK under `/v2`; `abide upstash keys` shows what they need [env: ABIDE_UPSTASH]
    #[arg(long)]
    upstash: bool,
    /// Serve them with the public credentials of the vendor's development server, which QSTASH_DEV=true makes SDKs use: for
    /// one machine only [env: ABIDE_UPSTASH_DEV]
    #[arg(long)]
    upstash_dev: bool,
    /// What is logged: error, warn, info, debug, trace, or by module [env: ABIDE_LOG] [default: info]
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,
    /// How logs are written: text or json [env: ABIDE_LOG_FORMAT] [default: text]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
}

impl Flags {
    /// Only which file has the settings.
    pub(crate) fn in_file(config: Option<PathBuf>) -> Flags {
        Flags { config, ..Flags::default() }
    }

    /// Which file has the settings, which store is used and where it is served, whatever they say.
    pub(crate) fn at_store(config: Option<PathBuf>, store: &str, listen: &str) -> Flags {
        let (store, listen) = (Some(store.to_owned()), Some(listen.to_owned()));
        Flags { config, store, listen, ..Flags::default() }
    }

    /// What the flag of a setting says, if it was given.
    pub(crate) fn given(&self, name: &str) -> Option<String> {
        let list = |given: &[String]| (!given.is_empty()).then(|| given.join(","));
        match name {
            "listen" => self.listen.clone(),
            "store" => self.store.clone(),
            "auth" => self.auth.clone(),
            "allow_everyone" => self.allow_everyone.then(|| "true".to_owned()),
            "public_url" => self.public_url.clone(),
            "allow_host" => list(&self.allow_host),
            "trusted_proxy" => list(&self.trusted_proxy),
            "allow_origin" => list(&self.allow_origin),
            "max_connections" => self.max_connections.clone(),
            "max_connections_per_address" => self.max_connections_per_address.clone(),
            "requests_per_second" => self.requests_per_second.clone(),
            "quota_open_runs" => self.quota_open_runs.clone(),
            "quota_stored_bytes" => self.quota_stored_bytes.clone(),
            "quota_starts_per_second" => self.quota_starts_per_second.clone(),
            "quota_calls" => self.quota_calls.clone(),
            "quota_schedules" => self.quota_schedules.clone(),
            "quota_webhooks" => self.quota_webhooks.clone(),
            "shutdown_time" => self.shutdown_time.clone(),
            "keep_runs" => self.keep_runs.clone(),
            "keep_events" => self.keep_events.clone(),
            "keep_events_at_most" => self.keep_events_at_most.clone(),
            "keep_keys" => self.keep_keys.clone(),
            "keep_deliveries" => self.keep_deliveries.clone(),
            "max_wait" => self.max_wait.clone(),
            "traces" => self.traces.clone(),
            "secrets_file" => self.secrets_file.clone(),
            "master_key_file" => self.master_key_file.clone(),
            "allow_address" => list(&self.allow_address),
            "provider" => list(&self.provider),
            "model" => list(&self.model),
            "handler_url" => list(&self.handler_url),
            "mcp" => self.mcp.clone(),
            "upstash" => self.upstash.then(|| "true".to_owned()),
            "upstash_dev" => self.upstash_dev.then(|| "true".to_owned()),
            "log" => self.log.clone(),
            "log_format" => self.log_format.clone(),
            other => unreachable!("{other} is not a setting"),
        }
    }
}
