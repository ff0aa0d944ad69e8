"""Somebody who follows the tutorial; `scripts/tutorial` says how to call it."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

OUT = pathlib.Path(sys.argv[1])
PACKAGES = OUT / "packages"
TSC = pathlib.Path("sdk/typescript/node_modules/.bin/tsc").absolute()
TYPES = TSC.parent.parent / "@types"
# What is to come comes in this time, or never.
BOUND_SECONDS = 300
MARK = "--- the end of a block:"


def blocks(page):
    """The fenced blocks of a page: the words after the fence, and what is inside."""
    text = pathlib.Path(page).read_text()
    return [(found[1].split(), found[2]) for found in re.finditer(r"^```([^\n]*)\n(.*?)^```$", text, re.M | re.S)]


def fits(shown, said):
    """Whether what came is what is shown; the number of blanks does not count."""
    squeezed = lambda text: " ".join(text.split())
    return re.fullmatch(".*".join(map(re.escape, squeezed(shown).split("…"))), squeezed(said), re.S)


def only(pattern):
    [found] = PACKAGES.glob(pattern)
    return str(found)


class Reader:
    """A person with a folder, a terminal, and further ones for what keeps running."""

    def __init__(self, name):
        self.folder = OUT / name
        self.folder.mkdir()
        with socket.create_server(("127.0.0.1", 0)) as free:
            address = f"127.0.0.1:{free.getsockname()[1]}"
        self.environment = os.environ | {"ABIDE_LISTEN": address, "ABIDE_SERVER": f"http://{address}"}
        self.background = []
        self.errors = open(self.folder / "errors.log", "a+")
        self.shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], cwd=self.folder, env=self.environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
        )

    def follow(self, page):
        steps = blocks(page)
        for (words, inside), (next_words, next_inside) in zip(steps, steps[1:] + [([], "")]):
            saved = [word.removeprefix("file=") for word in words if word.startswith("file=")]
            if saved:
                (self.folder / saved[0]).write_text(inside)
            elif words == ["sh", "background"]:
                self.start(inside)
            elif words == ["sh"]:
                self.run(page, inside, next_inside if next_words == ["text"] else None)
            elif words != ["text"]:
                sys.exit(f"{page}: nothing is known about a block of {words}")

    def start(self, command):
        """In a terminal of its own: nothing that was set in another one is set there."""
        log = open(self.folder / f"background-{len(self.background)}.log", "w")
        process = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-c", command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
        )
        self.background.append((command, process))

    def run(self, page, commands, shown):
        begun = time.monotonic()
        # What is started in another terminal needs a moment.
        may_repeat = all(line.startswith("abide ") for line in commands.splitlines())
        while True:
            code, said = self.tell(commands)
            if code == 0 and (shown is None or any(fits(shown, text) for text in said)):
                print(f"{page}: {commands.splitlines()[-1]}")
                return
            if not may_repeat or time.monotonic() - begun > BOUND_SECONDS:
                logs = "".join(f"--- {log.name}\n{log.read_text()}" for log in sorted(self.folder.glob("*.log")))
                sys.exit(f"{page}: {commands}exited with {code}:\n{''.join(said)}\nand not as shown:\n{shown}\n{logs}")
            time.sleep(0.1)

    def tell(self, commands):
        """The worst exit code, and what was written, out and beside it."""
        worst, said, begin = 0, "", self.errors.seek(0, os.SEEK_END)
        for line in commands.splitlines():
            if line.startswith("pkill "):
                self.kill(line.split()[-1])
                continue
            if re.fullmatch(r"(npm install --global|uv tool install) abide-server", line):
                continue  # the binary under test is in the path; the packages with it are tried by packaging/check
            line = line.replace("npm install abide-sdk", f"npm install {only('*.tgz')}")
            line = line.replace("pip install abide-sdk", f"pip install {only('*.whl')}")
            self.shell.stdin.write(f"{line}\nprintf '\\n%s%s\\n' '{MARK}' $?\n")
            self.shell.stdin.flush()
            for heard in self.shell.stdout:
                if heard.startswith(MARK):
                    worst = worst or int(heard.removeprefix(MARK))
                    break
                said += heard
        self.errors.seek(begin)
        return worst, (said, self.errors.read())

    def kill(self, name):
        """What `pkill -9` would do, but only to what this reader started."""
        for command, process in self.background:
            if name in command and process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def leave(self):
        self.kill("")
        self.shell.kill()
        self.shell.wait()


def walk(language):
    reader = Reader(language)
    try:
        for page in ["docs/tutorial/start.md", f"docs/tutorial/{language}.md"]:
            reader.follow(page)
        if language == "typescript":
            compile_all(reader.folder, ["desk.ts", "desk.test.ts"])
    finally:
        reader.leave()


def compile_all(folder, files):
    flags = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--typeRoots", str(TYPES), "--types", "node"]
    subprocess.run([TSC, *flags, *files], cwd=folder, check=True)


# What the snippets of a page take as given.
GIVEN = {
    "docs/guides/approvals.md": """
        import type { Context } from "abide-sdk";
        declare const ctx: Context; declare const refund: { cents: number }; declare const contentSchema: Record<string, unknown>;
        declare function slack(who: string, link: unknown): Promise<void>;""",
    "docs/concepts/steps-or-code.md": """
        import { type Context, isSuspended } from "abide-sdk";
        declare const ctx: Context; declare const order: { id: number };
        declare const bank: { charge(order: { id: number }): Promise<string> };
        declare const stock: { release(id: number): Promise<void> };""",
    "docs/concepts/suspend-and-replay.md": """
        import { handler } from "abide-sdk";
        interface Order { id: number }
        declare const bank: { charge(order: Order): Promise<string> };
        declare const warehouse: { ship(order: Order, receipt: string): Promise<string> };""",
}


def snippets():
    """Workflows are good, and `ts` is what the SDK takes, in the guides and concepts; code of other products is `typescript`."""
    folder = OUT / "snippets"
    folder.mkdir()
    (folder / "package.json").write_text('{"type": "module"}')
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", only("*.tgz")], cwd=folder, check=True)
    pages = sorted([*pathlib.Path("docs/guides").glob("*.md"), *pathlib.Path("docs/concepts").glob("*.md")])
    compiled = []
    for page in map(str, pages):
        for number, (words, inside) in enumerate(blocks(page)):
            name = f"{pathlib.Path(page).stem}-{number}"
            if words[:1] == ["ts"]:
                (folder / f"{name}.ts").write_text(f"{GIVEN[page]}\n{inside}\nexport {{}};\n")
                compiled.append(f"{name}.ts")
            elif words[:1] == ["yaml"]:
                (folder / f"{name}.yaml").write_text(inside)
                subprocess.run(["abide", "check", f"{name}.yaml"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            else:
                continue
            print(f"{page}: {' '.join(words)}")
    compile_all(folder, compiled)


for part in sys.argv[2:] or ["typescript", "python", "snippets"]:
    if part == "snippets":
        snippets()
    else:
        walk(part)
print("The tutorial and the snippets do what they say.")
