"""What else the words of a question may be called in code and its documentation. Pure.

Who asks in his own words says "throw away" where a name says ``discard``, "slow" where a heading says "latency". A few
hundred everyday words with the terms of the trade, in general and of no project; it is asked by the stems of words
(`findling.model.tokenizer`) and knows no sentences.
"""

from __future__ import annotations

from functools import cache

from findling.model import tokenizer

_SAME = """
abort cancel halt interrupt kill stop terminate, begin boot initialize launch start, complete done end finish,
delay pause sleep wait, again repeat retry, attempt try, big huge large, little small tiny, fast quick rapid,
clear delete discard drop erase purge remove, expired obsolete old outdated stale, keep preserve retain,
persist save store write, cache memoize remember, download fetch get load, dispatch emit forward post send transmit,
accept receive, error exception failure fault, crash panic, broken corrupt damaged,
bad incorrect invalid malformed wrong, check ensure validate verify, allow grant permit,
block deny disallow forbid refuse reject, avoid prevent, bound cap ceiling limit maximum, floor minimum,
credential password secret, authenticate login, account user, choose pick select, chunk part piece section segment,
divide partition split, combine join merge, compare diff, order rank sort, discover find locate lookup search,
display print render show, hide mask, monitor observe watch, alert notify,
adjust alter change edit modify mutate update, count number total, forecast predict, detect guess infer,
directory folder, document file, image photo picture, circular cycle loop, clone copy duplicate,
concurrent parallel simultaneous, lock mutex, busy locked, execute run, job task, callback handler hook,
option parameter setting, addon extension plugin, array list sequence, dictionary map, backlog buffer queue,
heap memory ram, disk storage, blank empty, refresh reload renew, reset restore, revert rollback undo,
migrate upgrade, replace substitute swap, absent missing, unknown unrecognized, misspelled mistyped typo,
cron periodic schedule, jitter random, cipher encrypt, cert certificate, compress gzip zip, convert transform,
decode parse, encode serialize, debug trace, measure metric, answer reply response, daemon server, peer remote,
color colour, hotkey keybinding shortcut, mouse pointer, fake mock stub, demo example sample,
docs documentation manual, deploy publish release, build compile, link symlink, nested recursive, closest nearest,
guard protect, alive running, dead inactive, idle inactive, freeze hang stuck, clash collision conflict,
distinct unique, equal identical same, locale translation, cost price, customer tenant, first head top, end last tail,
attach bind connect, close disconnect detach, escape quote, reduce shrink, expand extend grow, cleanup collect gc,
expression pattern regex, interval range, allocate assign, free release, available free spare unused,
element entry item record, line row, column field, identifier key name, flag switch toggle, enclose wrap, strip trim,
collapse flatten, policy rule, limit quota, reuse share, public visible, hidden private, binary blob, glyph icon,
caption heading title, holder owner, cause reason, group team, sign signature, cut shorten truncate, default fallback,
dump export, import ingest, constructor initializer, method function procedure routine, object instance,
interface protocol trait, subclass derive inherit, argument parameter, variable binding, constant literal,
module namespace package, library dependency, compiler transpiler, interpreter runtime, iterate loop traverse,
concatenate append, prepend insert, stack frame, thread worker, process program, signal interrupt, asynchronous async,
synchronous blocking, deadlock livelock, atomic transaction, commit confirm, snapshot checkpoint, replica replication,
leader primary master, follower secondary, cluster node, shard partition, consumer subscriber listener,
producer publisher, event message, topic channel, endpoint route, middleware interceptor, header metadata,
body payload content, cookie session, certificate tls ssl, authorize permission access, role privilege,
hash digest checksum, salt nonce, sanitize escape, vulnerability security, schema structure, table relation,
query statement, cursor iterator, foreign reference, pagination page, filter condition predicate, aggregate summarize,
average mean, variance deviation, percentage ratio, rounding precision, overflow exceed, container docker,
image layer, volume mount, environment variable, configuration setting, template placeholder, theme style,
font typeface, layout grid, menu dropdown, dialog modal popup, tooltip hint, scroll viewport, animation transition,
render paint draw, canvas surface, coordinate position, width size, clipboard paste, keyboard key,
terminal console tty, command subcommand, prompt input, stdin input, stdout output, tokenizer lexer, grammar syntax,
annotation decorator attribute, comment docstring, lint style, assertion expect, fixture setup, coverage covered,
benchmark performance, artifact binary, repository repo, branch ref, changelog history, maintainer author,
license copyright, accelerate optimize, advertise announce broadcast, acknowledge ack, assemble compose,
bypass ignore skip, calculate compute evaluate, capture record, catch rescue, compact shrink, consume read,
crawl scrape spider, crop resize scale, decrease lower reduce, deliver send, drain flush, adapter connector driver,
embed include inline, emulate simulate, enqueue push, dequeue pop, enumerate iterate list, approximate estimate,
evict expire, extract unpack, flaky intermittent unstable, gather collect, handshake negotiate,
heartbeat keepalive ping, highlight emphasis, increase raise, independent isolated, listen subscribe, mirror replica,
mismatch conflict, obfuscate redact mask, overlap intersect, margin padding spacing, incomplete partial, poll watch,
beginning prefix, ending suffix, probe check, propagate bubble, quarantine isolate sandbox, rearrange reorder,
repair fix, resume continue, restrict limit, rotate roll, scan traverse, shuffle random, alike similar,
excerpt snippet, origin source, fork spawn, overview summary, pause suspend, sync synchronize, teardown cleanup,
bandwidth throughput, fire trigger, optimize tune, guide tutorial, consumption usage, disappear missing vanish,
preload warmup, glob wildcard
"""
"""Each word of a group for any other of it."""

_ALSO = """
slow: latency performance throttle, fast: performance, speed: performance latency throughput, wait: timeout backoff,
long: timeout duration, time: duration timestamp, stuck: deadlock, hang: deadlock timeout, twice: duplicate,
leftover: stale orphan, lost: missing recover, forget: leak missing, throw: raise exception, fail: error exception,
problem: error issue, trouble: error troubleshooting, mistake: error, complain: warn error, broken: error fail,
safe: security, danger: unsafe, protect: security, login: session auth, password: auth token, secret: token,
permission: access role, person: user, colleague: user, machine: host, computer: host machine,
website: site host domain, address: host url, program: application process, app: application, script: command,
shell: command, screen: display window, page: view, form: input field, button: widget click, money: currency price,
clock: time, hour: time interval, minute: time interval, day: date, night: schedule, often: frequency interval,
many: count limit, few: minimum, enough: sufficient threshold, expensive: cost, cheap: cost, full: capacity,
space: disk capacity, room: capacity, traffic: request network, visitor: client, browser: client,
call: invoke request, hand: pass forward, question: query prompt, meaning: semantic, word: token term, sentence: text,
spelling: typo, language: locale, shape: schema structure, kind: type, sort: order, near: distance, between: range,
outside: external, inside: internal, together: group batch, everything: all, nothing: empty none, bunch: batch,
race: concurrent, off: disable, stay: keep, remain: keep, survive: persist, later: defer schedule, early: eager,
lazy: defer, ahead: prefetch, back: restore recover, return: restore, recover: restore backup, backup: snapshot dump,
past: history, previous: last, record: log, quiet: silent verbose, silent: quiet, noise: verbose, hint: suggestion,
advice: recommendation, explain: describe, learn: train, notice: detect, look: inspect, touch: modify,
spread: distribute, share: distribute, balance: distribute, weight: score, score: rank weight, fewest: minimum,
least: minimum, most: maximum, biggest: maximum, smallest: minimum, lowest: minimum, highest: maximum, oldest: first,
newest: latest, latest: newest, deep: depth recursive, depth: level, tree: node hierarchy, parent: ancestor,
child: descendant, walk: traverse, jump: navigate, move: rename, rename: move, wipe: clear, tidy: format clean,
pretty: format, clean: cleanup, dirty: modified, spoil: expire, expire: ttl timeout, alive: keepalive heartbeat,
health: liveness status, status: state, state: status, instead: replace override, override: replace,
custom: configure, customize: configure, configure: setting, prepare: setup initialize, setup: install configure,
install: setup, package: dependency module, link: url href, secure: tls ssl, encrypted: tls, redirect: location,
route: path, port: socket listen, socket: connection, connection: socket,
disconnect: timeout, offline: network, wire: connect, pipe: stream, stream: chunk, binary: bytes, text: string,
character: char, letter: char, digit: number, sign: symbol, comma: separator delimiter, separate: split delimiter,
bracket: delimiter, tell: notify report, announce: notify publish, subscribe: listen, ask: prompt request,
confirm: prompt
"""
"""A word, and what it may be called besides."""


@cache
def _table() -> dict[str, tuple[str, ...]]:
    """Stem -> the stems that may stand in its place."""
    found: dict[str, dict[str, None]] = {}
    for group in _SAME.split(","):
        words = [tokenizer.stem(word) for word in group.split()]
        for word in words:
            found.setdefault(word, {}).update(dict.fromkeys(words))
    for line in _ALSO.split(","):
        word, others = line.split(":")
        found.setdefault(tokenizer.stem(word.strip()), {}).update(dict.fromkeys(map(tokenizer.stem, others.split())))
    return {word: tuple(other for other in others if other != word) for word, others in found.items()}


def synonyms(stem: str) -> tuple[str, ...]:
    """The stems of words that may stand for a word, by its stem; () for most."""
    return _table().get(stem, ())
