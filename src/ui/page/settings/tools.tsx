import { Button, errorText, IconButton, type ToolsHandle, useRunsheet, useStrings, useTools } from 'runsheet/react'
import { X } from 'lucide-react'
import { type ReactElement, useEffect, useId, useRef, useState } from 'react'
import type { ServerToolView, ToolRule, ToolsAnswer, ToolServerView } from 'runsheet/client'
import { CopyButton } from '../thread/message.tsx'
import { toolCount } from '../chat/models.ts'
import type { LaterStrings } from '../texts/english-later.ts'

interface ToolsProps {
  readonly strings: LaterStrings['tools']
  readonly onClose: () => void
}

export default function Tools({ strings, onClose }: ToolsProps): ReactElement {
  const { client } = useRunsheet()
  const tools = useTools(client, { isLive: true })
  const panels = useStrings()
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => dialog.current?.showModal(), [])
  const { answer, error } = tools
  const count = answer && toolCount(answer, strings)
  return (
    <dialog
      ref={dialog}
      className="app-tools rs-panel"
      aria-labelledby={id}
      onClose={onClose}
      // Only the backdrop has the dialog itself as target.
      onClick={event => event.target === dialog.current && dialog.current?.close()}
    >
      <div className="app-tools-page">
        <header>
          <div>
            <h2 id={id}>{strings.title}</h2>
            <p className="app-quiet">{strings.about}</p>
            {count && !count.isAll && <p className="app-tool-changed">{strings.given(count.text)}</p>}
          </div>
          <IconButton label={strings.close} icon={X} size={18} onAct={() => dialog.current?.close()} />
        </header>
        {error !== undefined && (
          <p className="app-alert" role="alert">
            {errorText(panels, error)}
          </p>
        )}
        {answer?.problem !== undefined && (
          <p className="app-alert" role="alert">
            {answer.problem}
          </p>
        )}
        {answer && (
          <>
            {answer.servers.map(server => (
              <Server key={server.name} of={server} tools={tools} strings={strings} />
            ))}
            <Add answer={answer} strings={strings} />
            {answer.scope === 'node' && <p className="app-quiet">{strings.node}</p>}
          </>
        )}
      </div>
    </dialog>
  )
}

interface ServerProps {
  readonly of: ToolServerView
  readonly tools: ToolsHandle
  readonly strings: LaterStrings['tools']
}

/** With more tools the list scrolls and has a filter. */
const MANY = 12
/** With more tools they can be set all at once. */
const SOME = 4

function Server({ of, tools, strings }: ServerProps): ReactElement {
  const { name, state, reason, target, removable, file } = of
  const [isSure, setSure] = useState(false)
  const id = useId()
  return (
    <section className="app-tool-server" aria-labelledby={id}>
      <header>
        <span className={`app-tool-dot app-tool-${state}`} />
        <h3 id={id}>{name}</h3>
        <span className="app-quiet">{state === 'ready' ? strings.tools(of.tools.length) : strings.state[state]}</span>
        <span className="app-tool-actions">
          {state === 'failed' && <Button onClick={() => void tools.retry(name)}>{strings.retry}</Button>}
          {removable &&
            (isSure ? (
              <>
                <Button onClick={() => setSure(false)}>{strings.cancel}</Button>
                <Button kind="danger" onClick={() => void tools.remove(name)}>
                  {strings.removeSure(name)}
                </Button>
              </>
            ) : (
              <Button aria-label={strings.removeOf(name)} onClick={() => setSure(true)}>
                {strings.remove}
              </Button>
            ))}
        </span>
      </header>
      <code className="app-tool-target">{target}</code>
      {state === 'failed' && reason !== undefined && <p className="app-tool-reason">{reason}</p>}
      {state === 'connecting' && isLate(of) && <p className="app-quiet">{strings.slow}</p>}
      {!removable && <p className="app-quiet">{strings.inFile(file)}</p>}
      {of.tools.length > 0 && <ToolList of={of} tools={tools} strings={strings} />}
    </section>
  )
}

const LATE_MS = 5_000
const isLate = ({ since }: ToolServerView): boolean => Date.now() - Date.parse(since) > LATE_MS

function ToolList({ of: { name, tools: all }, tools, strings }: ServerProps): ReactElement {
  const [text, setText] = useState('')
  const isMany = all.length > MANY
  const wanted = text.trim().toLowerCase()
  const shown = all.filter(tool =>
    `${tool.name} ${tool.title ?? ''} ${tool.description}`.toLowerCase().includes(wanted),
  )
  const set = (rule: ToolRule, some: readonly ServerToolView[]): void => void tools.setRule(name, rule, some)
  return (
    <>
      {all.length > SOME && (
        <div className="app-tool-bar">
          {isMany && (
            <input
              type="search"
              className="rs-input"
              aria-label={strings.filter}
              placeholder={strings.filter}
              value={text}
              onChange={event => setText(event.target.value)}
            />
          )}
          <label>
            <span>{strings.setAll}</span>
            <select
              className="rs-input"
              value=""
              disabled={shown.length === 0}
              onChange={event => set(event.target.value as ToolRule, shown)}
            >
              <option value="" disabled>
                …
              </option>
              {RULES.map(rule => (
                <option key={rule} value={rule}>
                  {strings.rule[rule]}
                </option>
              ))}
            </select>
          </label>
        </div>
      )}
      <ul className={isMany ? 'app-tool-many' : undefined} {...(isMany ? { tabIndex: 0, 'aria-label': name } : {})}>
        {shown.map(tool => (
          <ToolRow key={tool.name} of={tool} server={name} strings={strings} onRule={rule => set(rule, [tool])} />
        ))}
        {shown.length === 0 && <li className="app-quiet">{strings.noMatch}</li>}
      </ul>
    </>
  )
}

const RULES: readonly ToolRule[] = ['ask', 'always', 'never']

interface ToolRowProps {
  readonly of: ServerToolView
  readonly server: string
  readonly strings: LaterStrings['tools']
  readonly onRule: (rule: ToolRule) => void
}

function ToolRow({ of, server, strings, onRule }: ToolRowProps): ReactElement {
  const { name, title, description, read_only, rule, changed, left_out } = of
  return (
    <li className={`app-tool${rule === 'never' ? ' app-tool-off' : ''}`}>
      <div>
        <p>
          <code>{name}</code>
          {read_only && <small> · {strings.readOnly}</small>}
        </p>
        {(title ?? description) !== '' && <p className="app-quiet app-tool-text">{description || title}</p>}
        {changed && <p className="app-tool-changed">{strings.changed[changed]}</p>}
        {left_out && <p className="app-tool-changed">{strings.leftOut}</p>}
      </div>
      <fieldset className="app-rule">
        <legend className="rs-sr">{strings.ruleOf(name)}</legend>
        {RULES.map(each => (
          <label key={each} title={strings.ruleHint[each]}>
            <input type="radio" name={`${server} ${name}`} checked={rule === each} onChange={() => onRule(each)} />
            <span>{strings.rule[each]}</span>
          </label>
        ))}
      </fieldset>
    </li>
  )
}

interface AddProps {
  readonly answer: ToolsAnswer
  readonly strings: LaterStrings['tools']
}

function Add({ answer: { add, servers }, strings }: AddProps): ReactElement {
  const [folder, setFolder] = useState(add.folder)
  const isNone = servers.length === 0
  const id = useId()
  return (
    <section className="app-tools-add" aria-labelledby={id}>
      <h3 id={id}>{isNone ? strings.noneTitle : strings.addMore}</h3>
      {isNone && <p>{strings.noneText}</p>}
      <label className="app-tools-folder">
        <span>{strings.folder}</span>
        <input
          className="rs-input"
          value={folder}
          spellCheck={false}
          onChange={event => setFolder(event.target.value)}
        />
      </label>
      <p className="app-quiet">
        {strings.runThis} · {strings.appears}
      </p>
      <CommandLine text={`${add.command} --folder ${shellWord(folder)}`} />
      <details>
        <summary>{strings.otherServer}</summary>
        <p className="app-quiet">{strings.otherText}</p>
        <CommandLine text={`${add.command} NAME -- npx -y SOME-MCP-SERVER`} />
        <CommandLine text={`${add.command} NAME --url https://example.com/mcp`} />
      </details>
      <p className="app-quiet">{strings.writes(add.file)}</p>
    </section>
  )
}

function CommandLine({ text }: { readonly text: string }): ReactElement {
  return (
    <div className="app-tools-command">
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} />
    </div>
  )
}

const shellWord = (word: string): string =>
  /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
