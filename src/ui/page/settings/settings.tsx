import { Button, errorText, IconButton, useSettings } from 'runsheet/react'
import { Bell, Cpu, ListChecks, Palette, X } from 'lucide-react'
import { type KeyboardEvent, type ReactElement, useEffect, useId, useRef, useState } from 'react'
import { CallSettings, DisplaySettings, Hint, ReviewSettings } from './pages.tsx'
import { changeOf, draftOf, type ModelEdits } from './model-draft.ts'
import { ModelSettings } from './model.tsx'
import { useClient } from '../auth.ts'
import { closeDialog, currentRoute, goInPlace } from '../route.ts'
import { useLaterStrings } from '../texts/english-later.ts'
import { usePageStrings } from '../texts/strings.ts'
import './settings.css'

const PAGES = ['model', 'reviews', 'notifications', 'display'] as const
type SettingsPage = (typeof PAGES)[number]
const ICONS = { model: Cpu, reviews: ListChecks, notifications: Bell, display: Palette }

interface SettingsProps {
  readonly page: string
  readonly onLanguage: () => void
}

export default function Settings(props: SettingsProps): ReactElement {
  const strings = usePageStrings()
  const client = useClient()
  const { onLanguage } = props
  const words = useLaterStrings().settings
  const page = PAGES.find(each => each === props.page) ?? 'model'
  const handle = useSettings(client)
  const { answer, error, isConflict } = handle
  const [edits, setEdits] = useState<ModelEdits>({})
  const [isAsking, setAsking] = useState(false)
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    dialog.current?.showModal()
    dialog.current?.querySelector<HTMLElement>('[aria-selected=true]')?.focus()
  }, [])
  const isDirty = answer !== undefined && changeOf(answer.settings, draftOf(answer.settings, edits)) !== undefined
  // The change in question is saved or discarded.
  useEffect(() => {
    if (!isDirty) setAsking(false)
  }, [isDirty])
  const close = (): void => (isDirty ? setAsking(true) : dialog.current?.close())
  const isOfServer = page === 'model' || page === 'reviews'
  const failure = error !== undefined && (
    <p className="app-alert" role="alert">
      <span>{isConflict ? words.conflict : errorText(strings.panels, error)}</span>
      {answer === undefined && <Button onClick={() => void handle.reload()}>{strings.retry}</Button>}
    </p>
  )
  return (
    <dialog
      ref={dialog}
      className="app-settings"
      aria-labelledby={`${id}-title`}
      onClose={closeDialog}
      onCancel={event => {
        // Popovers and file pickers inside fire `cancel`, too.
        if (event.target !== dialog.current || !isDirty) return
        event.preventDefault()
        setAsking(true)
      }}
      onPointerDown={event => event.target === dialog.current && close()}
    >
      <header>
        <h2 id={`${id}-title`}>{words.title}</h2>
        <IconButton label={strings.close} icon={X} size={18} onAct={close} />
      </header>
      {isAsking && isDirty && (
        <p className="app-set-unsaved" role="alert">
          <span>{words.unsaved}</span>
          <Button onClick={() => setAsking(false)}>{words.keepEditing}</Button>
          <Button kind="danger" onClick={() => dialog.current?.close()}>
            {words.discard}
          </Button>
        </p>
      )}
      <div className="app-set-body">
        <div role="tablist" aria-label={words.title} onKeyDown={event => switchByKey(event, page)}>
          {PAGES.map(each => {
            const Icon = ICONS[each]
            return (
              <button
                key={each}
                type="button"
                role="tab"
                id={`${id}-${each}`}
                aria-selected={each === page}
                aria-controls={`${id}-page`}
                tabIndex={each === page ? 0 : -1}
                onClick={() => turnTo(each)}
              >
                <Icon size={16} aria-hidden="true" /> {words.pages[each]}
              </button>
            )
          })}
        </div>
        <div className="app-set-page" role="tabpanel" id={`${id}-page`} aria-labelledby={`${id}-${page}`} tabIndex={0}>
          {isOfServer && answer === undefined && error === undefined && <p className="app-quiet">{strings.loading}</p>}
          {isOfServer && !(page === 'model' && answer) && failure}
          {isOfServer &&
            answer?.problems
              .filter(({ field }) => field === undefined)
              .map(({ message }) => (
                <p key={message} className="app-alert" role="alert">
                  {message}
                </p>
              ))}
          {isOfServer && answer?.scope === 'node' && <Hint>{words.ofNode}</Hint>}
          {page === 'model' && answer && (
            <ModelSettings {...{ answer, handle, strings, words, edits, failure }} onEdits={setEdits} />
          )}
          {page === 'reviews' && answer && <ReviewSettings settings={answer.settings} handle={handle} words={words} />}
          {page === 'notifications' && <CallSettings words={words} />}
          {page === 'display' && <DisplaySettings words={words} onLanguage={onLanguage} />}
        </div>
      </div>
    </dialog>
  )
}

/** Pages replace each other in the history, so that Back leaves the settings. */
const turnTo = (page: SettingsPage): void => goInPlace({ ...currentRoute(), settings: page })

function switchByKey(event: KeyboardEvent<HTMLElement>, page: SettingsPage): void {
  const at = PAGES.indexOf(page)
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key]
  const to = step === undefined ? { Home: 0, End: PAGES.length - 1 }[event.key] : at + step + PAGES.length
  const next = to === undefined ? undefined : PAGES[to % PAGES.length]
  if (next === undefined) return
  event.preventDefault()
  turnTo(next)
  event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')[PAGES.indexOf(next)]?.focus()
}
