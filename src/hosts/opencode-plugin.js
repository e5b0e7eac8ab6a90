// Runsheet's plugin for OpenCode. `runsheet setup opencode` writes it; `--remove` removes it.
// It calls `runsheet hook` and signs which chat a call of our tools belongs to: one MCP process serves all chats.
// It ignores every failure: OpenCode continues as if there were no plugin.
import { spawn } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const SETTINGS = { program: ['runsheet'], features: ['gate', 'evidence', 'digest'] }

const MAX_MS = 3_000
const MAX_TEXT = 200_000
const GATE_MARK = 'RUNSHEET-GATE:'

export const Runsheet = async ({ client, directory }) => {
  const { program, data, features } = SETTINGS
  const path = data === undefined ? projectData(directory) : resolve(directory, data.replace(/^~(?=\/|$)/, homedir()))
  /**
   * Per chat: the notes of `runsheet hook`, the digest, the prompt in progress, and whether a person stopped the agent
   * or another agent started it.
   */
  const chats = new Map()
  const chatOf = id => chats.get(id) ?? chats.set(id, { note: {}, digest: '' }).get(id)
  /** Shared with the MCP process. Setup creates it; in a clone or a subfolder without setup, the first call does. */
  const secret = () => {
    const file = join(path, 'opencode-secret')
    if (!existsSync(file)) writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 })
    return readFileSync(file, 'utf8').trim()
  }

  const hook = (event, payload) =>
    new Promise(resolve => {
      const [command, ...words] = program
      const off = ['gate', 'evidence', 'digest'].filter(each => !features.includes(each)).map(each => `--no-${each}`)
      const args = [...words, 'hook', event, '--host', 'opencode', '--data', path, ...off]
      const child = spawn(command, args, { cwd: directory, stdio: ['pipe', 'pipe', 'ignore'], timeout: MAX_MS })
      let text = ''
      child.stdout.on('data', chunk => (text += chunk))
      child.on('error', () => resolve(undefined))
      child.stdin.on('error', () => {})
      child.on('close', () => resolve(parsed(text)))
      child.stdin.end(JSON.stringify(payload))
    })

  const ask = async (event, sessionID, more = {}) => {
    const chat = chatOf(sessionID)
    const answer = await hook(event, { sessionID, note: chat.note, ...more })
    if (answer?.note) chat.note = { ...chat.note, ...answer.note }
    return answer
  }

  const refreshDigest = async sessionID => {
    if (features.includes('digest')) chatOf(sessionID).digest = (await ask('session.created', sessionID))?.context ?? ''
  }

  const onIdle = async sessionID => {
    const chat = chatOf(sessionID)
    await chat.asked
    // OpenCode reports a stopped chat as idle twice, so only the next prompt clears a stop.
    if (chat.isSubagent || chat.isStopped || !features.includes('gate')) return
    const { reason } = (await ask('session.idle', sessionID)) ?? {}
    if (!reason || chat.isStopped) return
    const parts = [{ type: 'text', text: reason, synthetic: true }]
    await client.session.prompt({ path: { id: sessionID }, body: { parts } })
  }

  return guarded({
    'chat.message': async ({ sessionID }, { parts }) => {
      const prompt = parts.map(({ text }) => text ?? '').join('\n')
      if (prompt.startsWith(GATE_MARK)) return
      const chat = chatOf(sessionID)
      chat.isStopped = false
      // Evidence needs neither the turn's start nor the digest.
      if (!features.includes('gate') && !features.includes('digest')) return
      chat.note.since = undefined
      chat.begin = async () => {
        const answer = await ask('chat.message', sessionID, { prompt: prompt.slice(0, 100) })
        chat.digest = answer?.context ?? ''
      }
      // Not awaited: OpenCode has other work to do before it needs the answer.
      chat.asked = chat.begin()
    },
    'tool.execute.before': async ({ tool, sessionID, callID }, output) => {
      if (!tool.startsWith('runsheet_')) return
      const chat = chats.get(sessionID)
      await chat?.asked
      // With the first prompt the MCP process was not up yet. The gate has to know where the turn began.
      if (chat?.begin && chat.note.since === undefined) await chat.begin()
      const mac = createHmac('sha256', secret()).update(JSON.stringify([sessionID, callID])).digest('hex')
      output.args.runsheet_session = { id: sessionID, call: callID, mac }
    },
    'tool.execute.after': async ({ tool, sessionID, args }, { output, content, metadata }) => {
      // The digest is in the system prompt of every step, so it must follow the plan.
      if (tool.startsWith('runsheet_')) {
        if (args) delete args.runsheet_session
        return refreshDigest(sessionID)
      }
      if (!features.includes('evidence')) return
      const text = typeof output === 'string' ? output.slice(0, MAX_TEXT) : undefined
      await ask('tool.execute.after', sessionID, { tool, args, output: text, content, metadata: { exit: metadata?.exit } })
    },
    'experimental.chat.system.transform': async ({ sessionID }, output) => {
      await chats.get(sessionID)?.asked
      const { digest } = chats.get(sessionID) ?? {}
      if (digest) output.system.push(digest)
    },
    'experimental.session.compacting': async ({ sessionID }, output) => {
      const { digest } = chats.get(sessionID) ?? {}
      if (digest) output.context.push(digest)
    },
    event: async ({ event: { type, properties } }) => {
      if (type === 'session.created' && properties.info?.parentID) chatOf(properties.info.id).isSubagent = true
      if (type === 'session.error' && properties.error?.name === 'MessageAbortedError' && properties.sessionID) {
        chatOf(properties.sessionID).isStopped = true
      }
      if (type === 'session.deleted' && properties.info) chats.delete(properties.info.id)
      if (type === 'session.idle') await onIdle(properties.sessionID)
    },
  })
}

/** Catches every error: OpenCode would fail the tool call. */
const guarded = hooks =>
  Object.fromEntries(
    Object.entries(hooks).map(([name, run]) => [
      name,
      async (...args) => {
        try {
          await run(...args)
        } catch {
          // OpenCode continues without Runsheet.
        }
      },
    ]),
  )

/** Must match `runsheet mcp`: the nearest data folder up to the repository root, but not the user's own. */
function projectData(directory) {
  const all = []
  for (let at = resolve(directory); ; at = dirname(at)) {
    if (at !== homedir() || all.length === 0) all.push(join(at, '.runsheet'))
    if (hasRepository(at)) break
    if (dirname(at) === at) return all[0]
  }
  return all.find(each => existsSync(each)) ?? all[0]
}

/** Must match `runsheet mcp`. */
const hasRepository = folder =>
  statSync(join(folder, '.git'), { throwIfNoEntry: false })?.isFile() ||
  ['HEAD', 'objects', 'refs'].every(name => existsSync(join(folder, '.git', name)))

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
