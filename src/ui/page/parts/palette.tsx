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
} from 'lucide-react'
import { type KeyboardEvent, type ReactElement, type ReactNode, useEffect, useId, useState } from 'react'
import type { Client, SearchResult, Session } from 'runsheet/client'
import { errorText, isComposing } from 'runsheet/react'
import { type CommandId, isOffered, runCommand } from '../chat/commands.ts'
import { englishCommands } from '../texts/english-commands.ts'
import { aboutResult, keyOf, Marked, partsOf, routeOf } from '../lists/found.tsx'
import { ModalDialog } from './modal-dialog.tsx'
import type { PageStrings } from '../texts/page-strings.ts'
import { chatRoute, type Route } from './route.ts'
import { useSearch } from '../lists/use-search.ts'

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
  readonly client: Client
  readonly strings: PageStrings
  readonly sessions: readonly Session[]
  readonly onGo: (route: Route) => void
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

export default function Palette({ client, strings, sessions, onGo, onClose }: PaletteProps): ReactElement {
  const words = strings.command ?? englishCommands
  const [typed, setTyped] = useState('')
  const query = typed.trim()
  const search = useSearch(client, query, MAX_RESULTS)
  const [active, setActive] = useState(0)
  const groups = optionsFor({ query, strings, words, sessions, results: search.answer?.results ?? [], onGo })
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

interface Offer extends Pick<PaletteProps, 'strings' | 'sessions' | 'onGo'> {
  readonly query: string
  readonly words: typeof englishCommands
  readonly results: readonly SearchResult[]
}

function optionsFor({ query, strings, words, sessions, results, onGo }: Offer): readonly OptionGroup[] {
  const commands = (Object.keys(ICONS) as CommandId[])
    .filter(id => isOffered(id) && holds(words.labels[id], query))
    .map(id => ({ key: id, icon: ICONS[id], label: words.labels[id], run: () => runCommand(id) }))
  const recent = sessions.slice(0, MAX_RECENT).map(({ session_id, title }) => ({
    key: session_id,
    icon: MessageSquare,
    label: <span dir="auto">{title ?? strings.untitled}</span>,
    run: () => onGo(chatRoute(session_id)),
  }))
  const found = results.map(result => ({
    key: keyOf(result),
    icon: KIND_ICONS[result.kind],
    label: <Marked parts={partsOf(result)} />,
    about: `${words.kinds[result.kind]} · ${aboutResult(result, strings)}`,
    run: () => onGo(routeOf(result)),
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
