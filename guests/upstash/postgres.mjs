// A private PostgreSQL server on a socket in a folder of its own.
import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const installed = "/usr/lib/postgresql";
const versions = existsSync(installed) ? readdirSync(installed).sort((a, b) => Number(b) - Number(a)) : [];
const programs = versions.length > 0 ? join(installed, versions[0], "bin") : "";

// The server refuses to be run by root.
const nobody = () => {
  const id = (flag) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
};

export const startPostgres = async () => {
  const folder = mkdtempSync(join(tmpdir(), "abide-pg-"));
  const user = process.getuid() === 0 ? nobody() : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  execFileSync(join(programs, "initdb"), ["-D", data, "-U", "abide", "-A", "trust"], { ...user, cwd: folder, stdio: "ignore" });
  const flags = ["-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "max_connections=100"];
  const server = spawn(join(programs, "postgres"), flags, { ...user, cwd: folder, stdio: "ignore" });
  const gone = new Promise((resolve) => server.once("exit", resolve));
  const isReady = () => {
    try {
      execFileSync(join(programs, "pg_isready"), ["-h", folder], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  };
  while (!isReady()) await new Promise((resolve) => setTimeout(resolve, 50));
  execFileSync(join(programs, "createdb"), ["-h", folder, "-U", "abide", "abide"], { stdio: "ignore" });
  return {
    address: `postgres://abide@/abide?host=${folder}`,
    stop: async () => {
      server.kill("SIGINT");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
