import { errorText, IconButton, isComposing } from 'runsheet/react'
import {
  Archive,
  ArchiveRestore,
  BookOpenCheck,
  FileJson,
  FileText,
  History,
  Keyboard,
  Languages,
  ListTodo,
  type LucideIcon,
  MessageSquare,
  MessageSquareText,
  PanelRight,
  PencilLine,
  Pin,
  PinOff,
  Plus,
  Search,
  Settings,
  SunMoon,
  Wrench,
  X,
} from 'lucide-react'
import {
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { SearchResult, Session } from 'runsheet/client'
import { type CommandId, isOffered, keysOf, runCommand } from './commands.ts'
import { aboutResult, keyOf, Marked, partsOf, routeOf, useSearch } from './lists/search.tsx'
import { chatRoute, go } from './route.ts'
import { useClient } from './auth.ts'
import { type PageStrings, usePageStrings } from './texts/strings.ts'
import { type LaterStrings, useLaterStrings } from './texts/english-later.ts'
import './lists/lists.css'

const ICONS: Readonly<Record<CommandId, LucideIcon>> = {
  new_chat: Plus,
  reviews: BookOpenCheck,
  search: Search,
  history: History,
  rename: PencilLine,
  pin: Pin,
  unpin: PinOff,
  archive: Archive,
  restore: ArchiveRestore,
  export_markdown: FileText,
  export_json: FileJson,
  plan_beside: PanelRight,
  archived: Archive,
  settings: Settings,
  tools: Wrench,
  theme: SunMoon,
  language: Languages,
  keyboard_help: Keyboard,
}
const KIND_ICONS: Readonly<Record<SearchResult['kind'], LucideIcon>> = {
  conversation: MessageSquare,
  task: ListTodo,
  message: MessageSquareText,
}
const MAX_RECENT = 6
const MAX_RESULTS = 20

interface PaletteProps {
  readonly sessions: readonly Session[]
  readonly onClose: () => void
}

interface Option {
  readonly key: string
  readonly icon: LucideIcon
  readonly label: ReactNode
  readonly about?: string
  readonly run: () => void
}

interface OptionGroup {
  readonly heading: string
  readonly options: readonly Option[]
}

export function Palette({ sessions, onClose }: PaletteProps): ReactElement {
  const client = useClient()
  const strings = usePageStrings()
  const words = useLaterStrings().command
  const [typed, setTyped] = useState('')
  const query = typed.trim()
  const search = useSearch(client, query, MAX_RESULTS)
  const [active, setActive] = useState(0)
  const groups = optionsFor({ query, strings, words, sessions, results: search.answer?.results ?? [] })
  const options = groups.flatMap(group => group.options)
  const at = Math.min(active, options.length - 1)
  const id = useId()
  const optionId = (index: number): string => `${id}-${index}`
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, at])
  const move = (to: number): void => setActive((to + options.length) % options.length)
  const choose = (close: () => void, option: Option | undefined): void => {
    if (!option) return
    close()
    option.run()
  }
  const onKeyDown = (event: KeyboardEvent, close: () => void): void => {
    if (isComposing(event)) return
    if (event.key === 'ArrowDown') move(at + 1)
    else if (event.key === 'ArrowUp') move(at - 1)
    else if (event.key === 'Enter') choose(close, options[at])
    else return
    event.preventDefault()
  }
  const isDone = query === '' || (!search.isSearching && search.problem === undefined)
  return (
    <ModalDialog className="app-palette" label={words.palette} onClose={onClose}>
      {close => (
        <>
          <div className="app-palette-head">
            <Search size={18} aria-hidden="true" />
            <input
              role="combobox"
              aria-label={words.palette}
              aria-expanded="true"
              aria-autocomplete="list"
              aria-controls={id}
              {...(at >= 0 ? { 'aria-activedescendant': optionId(at) } : {})}
              placeholder={words.placeholder}
              autoComplete="off"
              spellCheck="false"
              value={typed}
              onChange={event => {
                setTyped(event.target.value)
                setActive(0)
              }}
              onKeyDown={event => onKeyDown(event, close)}
            />
          </div>
          <div id={id} role="listbox" aria-label={words.palette} className="app-palette-list">
            {groups.map(({ heading, options: own }, group) => (
              <div key={heading} role="group" aria-labelledby={`${id}-group-${group}`}>
                <div id={`${id}-group-${group}`} role="presentation" className="app-palette-heading">
                  {heading}
                </div>
                {own.map(option => {
                  const index = options.indexOf(option)
                  return (
                    <div
                      key={option.key}
                      id={optionId(index)}
                      role="option"
                      aria-selected={index === at}
                      // The input keeps the focus and handles the keys.
                      onPointerMove={() => setActive(index)}
                      onClick={() => choose(close, option)}
                    >
                      <option.icon size={16} aria-hidden="true" />
                      <span className="app-palette-label">{option.label}</span>
                      {option.about !== undefined && <small>{option.about}</small>}
                    </div>
                  )
                })}
              </div>
            ))}
          </div>
          {search.problem !== undefined && (
            <p role="alert" className="app-palette-note">
              {errorText(strings.panels, search.problem)}
            </p>
          )}
          <p role="status" className={options.length === 0 && isDone ? 'app-palette-note' : 'rs-sr'}>
            {isDone && (options.length === 0 ? words.nothing : words.count(options.length))}
          </p>
        </>
      )}
    </ModalDialog>
  )
}

interface Offer extends Pick<PaletteProps, 'sessions'> {
  readonly strings: PageStrings
  readonly query: string
  readonly words: LaterStrings['command']
  readonly results: readonly SearchResult[]
}

function optionsFor({ query, strings, words, sessions, results }: Offer): readonly OptionGroup[] {
  const commands = (Object.keys(ICONS) as CommandId[])
    .filter(id => isOffered(id) && holds(words.labels[id], query))
    .map(id => ({ key: id, icon: ICONS[id], label: words.labels[id], run: () => runCommand(id) }))
  const recent = sessions.slice(0, MAX_RECENT).map(({ session_id, title }) => ({
    key: session_id,
    icon: MessageSquare,
    label: <span dir="auto">{title ?? strings.untitled}</span>,
    run: () => go(chatRoute(session_id)),
  }))
  const found = results.map(result => ({
    key: keyOf(result),
    icon: KIND_ICONS[result.kind],
    label: <Marked parts={partsOf(result)} />,
    about: `${words.kinds[result.kind]} · ${aboutResult(result, strings)}`,
    run: () => go(routeOf(result)),
  }))
  return [
    { heading: words.actions, options: commands },
    { heading: words.recent, options: query === '' ? recent : [] },
    { heading: words.results, options: query === '' ? [] : found },
  ].filter(({ options }) => options.length > 0)
}

/** Matches each query word at the start of a word, or anywhere in text without spaces; ignores case and accents. */
const holds = (label: string, query: string): boolean =>
  plain(query)
    .split(/\s+/)
    .every(word =>
      /\p{Script=Han}/u.test(word) ? plain(label).includes(word) : ` ${plain(label)}`.includes(` ${word}`),
    )

const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()

interface KeyboardHelpProps {
  readonly onClose: () => void
}

export function KeyboardHelp({ onClose }: KeyboardHelpProps): ReactElement {
  const strings = usePageStrings()
  const words = useLaterStrings().command
  const id = useId()
  return (
    <ModalDialog className="app-help" labelledBy={id} onClose={onClose}>
      {close => (
        <>
          <header>
            <h2 id={id}>{words.help}</h2>
            <IconButton label={strings.close} icon={X} size={18} onAct={close} />
          </header>
          <div className="app-help-body" tabIndex={0} role="region" aria-labelledby={id}>
            {words.shortcuts.map(({ where, keys }) => (
              <section key={where}>
                <h3>{where}</h3>
                <dl>
                  {keys.map(([what, ...shortcuts]) => (
                    <div key={what}>
                      <dt>{what}</dt>
                      <dd>
                        {shortcuts.map(shortcut => (
                          <span key={shortcut}>
                            {keysOf(shortcut).map(key => (
                              <kbd key={key}>{key}</kbd>
                            ))}
                          </span>
                        ))}
                      </dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
          </div>
        </>
      )}
    </ModalDialog>
  )
}

interface ModalDialogProps {
  readonly className: string
  readonly label?: string
  readonly labelledBy?: string
  readonly onClose: () => void
  readonly children: (close: () => void) => ReactNode
}

/** The browser's modal dialog: Escape and a click on the backdrop close it, and the focus returns. */
function ModalDialog({ className, label, labelledBy, onClose, children }: ModalDialogProps): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const element = dialog.current
    if (element && !element.open) element.showModal()
  }, [])
  // Do not wait for the `close` event: it comes late, when another key may have opened the dialog again.
  const close = (): void => {
    dialog.current?.close()
    onClose()
  }
  return (
    <dialog
      ref={dialog}
      className={`app-dialog ${className}`}
      aria-label={label}
      aria-labelledby={labelledBy}
      onClose={onClose}
      onCancel={event => {
        event.preventDefault()
        close()
      }}
      // The content fills the dialog, so only the backdrop has the dialog itself as target.
      onPointerDown={event => event.target === dialog.current && close()}
    >
      {children(close)}
    </dialog>
  )
}
