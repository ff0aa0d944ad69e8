//! A PostgreSQL server for tests: private, on a socket in a directory of its own, with every commit synced. It is gone
//! when the process that started it is, however that ends.

use std::fs::Permissions;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use tokio_postgres::{NoTls, SimpleQueryMessage};

const WHAT_TO_DO: &str = "tests need the programs of a PostgreSQL server (initdb and postgres), in PATH or under \
    /usr/lib/postgresql, or where ABIDE_TEST_POSTGRES says; install it, on Debian with `apt-get install postgresql`";
/// How long a busy machine may take to start one.
const PATIENCE: Duration = Duration::from_secs(300);

/// Keeps a server until its input ends or says something.
const KEEPER: &str = r#"
    "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses="$3" -p "$4" -c fsync=on -c max_connections=60 \
        -c shared_buffers=32MB -c lc_messages=C >>"$2/log" 2>&1 &
    server=$!
    read -r word
    kill -QUIT $server
    wait $server
    [ "$word" = crash ] || rm -rf "$2"
"#;

/// Who gets in where there is encryption.
const TRUST_ALL_BUT_ANN: &str = "local all all trust\nhostssl all ann all scram-sha-256\nhost all ann all reject\nhost all all all trust\n";

/// Whether tests that can run on any store are to run on PostgreSQL: `ABIDE_TEST_STORE=postgres`.
pub fn is_asked_for() -> bool {
    env::var("ABIDE_TEST_STORE").is_ok_and(|store| store == "postgres")
}

/// A private PostgreSQL server. It ends, and its files are removed, when this is dropped or the process ends.
#[derive(Debug)]
pub struct Server {
    programs: PathBuf,
    directory: PathBuf,
    user: Option<User>,
    keeper: Child,
    listens: Listens,
    databases: AtomicU32,
}

/// Where it can be reached, beside its socket, whose name has the port in it.
#[derive(Clone, Copy, Debug)]
struct Listens {
    address: &'static str,
    port: u16,
}

impl Listens {
    const NOWHERE: Listens = Listens { address: "", port: 5432 };
}

/// Whoever runs the server when we are root, whom it refuses.
#[derive(Clone, Copy, Debug)]
struct User {
    uid: u32,
    gid: u32,
}

impl Server {
    /// The server that all tests of this process share.
    pub fn shared() -> &'static Server {
        static SHARED: OnceLock<Server> = OnceLock::new();
        SHARED.get_or_init(Server::start)
    }

    /// A server of the caller's own.
    pub fn start() -> Server {
        Server::start_where(Listens::NOWHERE, |_, _| {})
    }

    /// A server that encrypts, with this certificate and its key, on a port of 127.0.0.1. There a user `ann` needs a
    /// password, and encryption.
    pub fn start_encrypted(certificate: &str, key: &str) -> Server {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free.expect("there is a free port").port();
        Server::start_where(Listens { address: "127.0.0.1", port }, |data, user| {
            write(&data.join("server.crt"), certificate, user);
            write(&data.join("server.key"), key, user);
            write(&data.join("postgresql.auto.conf"), "ssl = on\n", user);
            write(&data.join("pg_hba.conf"), TRUST_ALL_BUT_ANN, user);
        })
    }

    fn start_where(listens: Listens, prepare: impl FnOnce(&Path, Option<User>)) -> Server {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let programs = programs();
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let directory = env::temp_dir().join(format!("abide-pg-{}-{number}", std::process::id()));
        let user = make(&directory);
        let copied = command(Path::new("cp"), &directory, user)
            .arg("-R")
            .arg(template(&programs).join("data"))
            .arg("data")
            .status();
        assert!(copied.expect("`cp` can be run").success(), "the template could not be copied");
        prepare(&directory.join("data"), user);
        let keeper = keep(&programs, &directory, user, listens);
        let server = Server { programs, directory, user, keeper, listens, databases: AtomicU32::new(0) };
        server.wait_until_ready();
        server
    }

    /// The address of a new database, with nothing in it.
    pub fn database(&self) -> String {
        self.database_with("ENCODING 'UTF8'")
    }

    /// The address of a new database that is created with these options of `CREATE DATABASE`.
    pub fn database_with(&self, options: &str) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let made = format!("CREATE DATABASE {name} TEMPLATE template0 {options}");
        self.ask(&self.address("postgres"), &made);
        self.address(&name)
    }

    /// The address of a new database in which these statements were run, as `pg_dump --inserts` writes them.
    pub fn database_of(&self, dump: &str) -> String {
        let address = self.database();
        // What begins with a backslash is for psql.
        let statements: Vec<&str> = dump.lines().filter(|line| !line.starts_with('\\')).collect();
        self.ask(&address, &statements.join("\n"));
        address
    }

    /// Runs statements in a database of this server, and answers with the first value that comes of them.
    pub fn ask(&self, address: &str, statements: &str) -> Option<String> {
        self.execute(address, statements).expect("the statements are sound")
    }

    /// The address of the database of this name.
    pub fn address(&self, database: &str) -> String {
        format!("{}&port={}", address(&self.directory, database), self.listens.port)
    }

    /// The port on which the server encrypts.
    pub fn port(&self) -> u16 {
        self.listens.port
    }

    /// Where the server's socket is.
    pub fn socket(&self) -> PathBuf {
        self.directory.join(format!(".s.PGSQL.{}", self.listens.port))
    }

    /// Stops the server in the middle of whatever it does, and starts it again.
    pub fn crash(&mut self) {
        let input = self.keeper.stdin.as_mut().expect("it has an input");
        input.write_all(b"crash\n").expect("the keeper listens");
        self.keeper.wait().expect("the keeper ends");
        self.keeper = keep(&self.programs, &self.directory, self.user, self.listens);
        self.wait_until_ready();
    }

    /// Runs statements in a thread of their own, so that tests inside a runtime may ask for it, too.
    fn execute(&self, address: &str, statements: &str) -> Result<Option<String>, tokio_postgres::Error> {
        let execute = async {
            let (client, connection) = tokio_postgres::connect(address, NoTls).await?;
            tokio::spawn(connection);
            let answers = client.simple_query(statements).await?;
            let value = |answer: &SimpleQueryMessage| {
                if let SimpleQueryMessage::Row(row) = answer { row.get(0).map(str::to_owned) } else { None }
            };
            Ok(answers.iter().find_map(value))
        };
        thread::scope(|threads| {
            let executed = threads.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.expect("a runtime can be started").block_on(execute)
            });
            executed.join().expect("statements do not panic")
        })
    }

    fn wait_until_ready(&self) {
        let begun = Instant::now();
        while let Err(error) = self.execute(&self.address("postgres"), "") {
            let log = || fs::read_to_string(self.directory.join("log")).unwrap_or_default();
            assert!(begun.elapsed() < PATIENCE, "the server does not start: {error}\n{}", log());
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The address of a database behind a socket in this directory.
pub fn address(directory: &Path, database: &str) -> String {
    format!("postgresql:///{database}?user=postgres&host={}", directory.display())
}

/// Makes a directory for whoever is to run a server in it.
fn make(directory: &Path) -> Option<User> {
    // It may be left over from a process of the same number.
    let _ = fs::remove_dir_all(directory);
    fs::create_dir(directory).expect("a directory can be made");
    let user = (fs::metadata(directory).expect("it was just made").uid() == 0).then(User::of_servers);
    if let Some(User { uid, gid }) = user {
        chown(directory, Some(uid), Some(gid)).expect("root gives away what it likes");
    }
    user
}

/// Writes a file that only the server reads.
fn write(path: &Path, text: &str, user: Option<User>) {
    fs::write(path, text).expect("a file can be written");
    fs::set_permissions(path, Permissions::from_mode(0o600)).expect("it is ours");
    if let Some(User { uid, gid }) = user {
        chown(path, Some(uid), Some(gid)).expect("root gives away what it likes");
    }
}

/// A server's files as they are before it is started for the first time. Making them takes seconds, and every test has
/// a server of its own.
fn template(programs: &Path) -> PathBuf {
    let version = fs::metadata(programs.join("postgres")).expect("it is there");
    let name = format!("abide-pg-template-{}-{}", version.size(), version.mtime());
    let template = env::temp_dir().join(name);
    if template.exists() {
        return template;
    }
    let part = template.with_extension(std::process::id().to_string());
    let user = make(&part);
    let made = command(&programs.join("initdb"), &part, user)
        .args([
            "--pgdata=data",
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ])
        .output()
        .expect("initdb can be run");
    assert!(made.status.success(), "initdb failed: {}", String::from_utf8_lossy(&made.stderr));
    // Another process may have been quicker.
    if fs::rename(&part, &template).is_err() {
        let _ = fs::remove_dir_all(&part);
    }
    template
}

impl User {
    fn of_servers() -> User {
        let ask = |what| {
            let said = Command::new("id").args([what, "postgres"]).output().expect("`id` can be run");
            let number = String::from_utf8_lossy(&said.stdout).trim().parse();
            number.unwrap_or_else(|_| panic!("there is no user `postgres`; {WHAT_TO_DO}"))
        };
        User { uid: ask("-u"), gid: ask("-g") }
    }
}

/// Where the programs are: in the folder that `ABIDE_TEST_POSTGRES` names, or those of the newest version there is.
fn programs() -> PathBuf {
    let is_complete = |place: &PathBuf| ["initdb", "postgres"].iter().all(|name| place.join(name).is_file());
    if let Some(asked) = env::var_os("ABIDE_TEST_POSTGRES") {
        let place = PathBuf::from(asked);
        assert!(is_complete(&place), "there is no server in {}; {WHAT_TO_DO}", place.display());
        return place;
    }
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = installed.map(|entry| entry.path().join("bin")).collect();
    let version = |path: &PathBuf| {
        let name = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        name.and_then(|name| name.parse::<u32>().ok())
    };
    versions.sort_by_key(version);
    let in_path = env::var_os("PATH").unwrap_or_default();
    let mut places = versions.into_iter().rev().chain(env::split_paths(&in_path));
    places.find(is_complete).unwrap_or_else(|| panic!("{WHAT_TO_DO}"))
}

fn keep(programs: &Path, directory: &Path, user: Option<User>, listens: Listens) -> Child {
    command(Path::new("/bin/sh"), directory, user)
        .args(["-c", KEEPER, "keeper"])
        .args([programs, directory])
        .args([listens.address, &listens.port.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Whatever is done to us and our group, it outlives us long enough to tidy up.
        .process_group(0)
        .spawn()
        .expect("a shell can be run")
}

fn command(program: &Path, directory: &Path, user: Option<User>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(directory);
    if let Some(User { uid, gid }) = user {
        command.uid(uid).gid(gid);
    }
    command
}
