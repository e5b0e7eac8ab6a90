import { Button, type SettingsHandle } from 'runsheet/react'
import { CircleCheck, ExternalLink, TriangleAlert } from 'lucide-react'
import { type FormEvent, type ReactElement, type ReactNode, useState } from 'react'
import type { SettingName, SettingsAnswer, SettingsView, TryAnswer } from 'runsheet/client'
import { keep } from '../storage.ts'
import {
  changeOf,
  draftOf,
  endpointOf,
  erasesKey,
  type ModelDraft,
  type ModelEdits,
  PROVIDER_NAMES,
  type ProviderName,
  PROVIDERS,
  SERVERS,
  withProvider,
} from './model-draft.ts'
import { Hint, Locked } from './pages.tsx'
import { SETTINGS_CHANGED } from '../chat/models.ts'
import type { LaterStrings } from '../texts/english-later.ts'
import { usePageStrings } from '../texts/strings.ts'

interface ModelSettingsProps {
  readonly answer: SettingsAnswer
  readonly handle: SettingsHandle
  readonly words: LaterStrings['settings']
  readonly edits: ModelEdits
  readonly onEdits: (edits: ModelEdits) => void
  readonly failure: ReactNode
}

/** Saves model, address, key and judge together, because a key belongs to one address; then tries the model. */
export function ModelSettings(props: ModelSettingsProps): ReactElement {
  const { answer, handle, words, edits, onEdits, failure } = props
  const { settings, problems } = answer
  const draft = draftOf(settings, edits)
  const change = changeOf(settings, draft)
  const [message, setMessage] = useState('')
  const isBusy = handle.isSaving || handle.isTrying
  const edit = (more: ModelEdits): void => {
    setMessage('')
    onEdits({ ...edits, ...more })
  }
  const saveAndTry = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (isBusy) return
    setMessage('')
    if (change) {
      if (!(await handle.save(change))) return
      onEdits({})
      keep(SETTINGS_CHANGED, String(Date.now()))
      setMessage(words.saved(draft.provider === 'demo' ? words.providers.demo[0] : draft.name.trim()))
    }
    if (draft.provider !== 'demo') await handle.tryModel()
  }
  const removeKey = async (): Promise<void> => {
    if (!(await handle.save({ unset: ['key'] }))) return
    keep(SETTINGS_CHANGED, String(Date.now()))
    setMessage(words.keyRemoved)
  }
  const isDemo = draft.provider === 'demo'
  return (
    <form className="app-set-form" onSubmit={event => void saveAndTry(event)}>
      <Hint>{words.modelIntro}</Hint>
      {change === undefined &&
        problems.map(({ field }) => (
          <Problem key={field} field={field} settings={settings} draft={draft} words={words} />
        ))}
      <Providers {...{ settings, draft, words }} onChoose={each => onEdits(withProvider(settings, edits, each))} />
      {!isDemo && (
        <>
          <label className="app-set-field">
            <span>{words.modelName}</span>
            <input
              className="rs-input"
              required
              autoComplete="off"
              spellCheck={false}
              maxLength={200}
              placeholder={PROVIDERS[draft.provider].example}
              value={draft.name}
              disabled={settings.model.locked_by !== undefined}
              onChange={event => edit({ name: event.target.value })}
            />
            <Hint>{words.modelHint(PROVIDERS[draft.provider].example)}</Hint>
          </label>
          <Address {...{ settings, draft, words }} onEdit={edit} />
          <Key
            key={answer.version}
            {...{ settings, draft, words, isBusy }}
            onEdit={edit}
            onRemove={() => void removeKey()}
          />
        </>
      )}
      <Judge {...{ settings, draft, words }} onEdit={edit} />
      <div className="app-set-actions">
        {failure}
        {handle.tried && change === undefined && <Tried tried={handle.tried} settings={settings} words={words} />}
        {(change || !isDemo) && (
          <Button type="submit" kind="primary" aria-disabled={isBusy}>
            {change === undefined ? words.tryIt : isDemo ? words.save : words.saveAndTry}
          </Button>
        )}
        {change === undefined && settings.assessor_model.value !== null && (
          <Button aria-disabled={isBusy} onClick={() => isBusy || void handle.tryModel('assessor_model')}>
            {words.tryJudge}
          </Button>
        )}
        <span role="status" className="app-set-said">
          {handle.isSaving ? words.saving : handle.isTrying ? words.trying : message}
        </span>
      </div>
    </form>
  )
}

interface PartProps {
  readonly settings: SettingsView
  readonly draft: ModelDraft
  readonly words: LaterStrings['settings']
}

function Problem({ field, settings, draft, words }: PartProps & { readonly field: SettingName | undefined }) {
  if (field === undefined || !(field in words.problems)) return null
  const ofJudge = field === 'key' && settings.key.is_set ? PROVIDERS[draft.judgeProvider].variable : undefined
  return (
    <p className="app-set-problem" role="status">
      <TriangleAlert size={15} aria-hidden="true" />
      {ofJudge === undefined ? words.problems[field as keyof typeof words.problems] : words.judgeNeedsKey(ofJudge)}
    </p>
  )
}

interface EditProps extends PartProps {
  readonly onEdit: (edits: ModelEdits) => void
}

function Providers(props: PartProps & { readonly onChoose: (provider: ProviderName) => void }): ReactElement {
  const { settings, draft, words, onChoose } = props
  const { locked_by, saved } = settings.model
  return (
    <fieldset className="app-set-providers" disabled={locked_by !== undefined}>
      <legend>{words.provider}</legend>
      <div>
        {PROVIDER_NAMES.map(each => (
          <label key={each}>
            <input type="radio" name="provider" checked={each === draft.provider} onChange={() => onChoose(each)} />
            <span>
              <strong>{words.providers[each][0]}</strong>
              <small>{words.providers[each][1]}</small>
            </span>
          </label>
        ))}
      </div>
      <Locked words={words} by={locked_by} saved={saved} />
    </fieldset>
  )
}

/** Providers with their own address show the field only on request. */
function Address({ settings, draft, words, onEdit }: EditProps): ReactElement {
  const { locked_by, saved } = settings.base_url
  const isOther = draft.provider === 'openai-compatible'
  const [isOpen, setOpen] = useState(draft.url !== '' || locked_by !== undefined)
  const field = (
    <>
      <label className="app-set-field">
        <span>{words.baseUrl}</span>
        <input
          className="rs-input"
          type="url"
          required={isOther && locked_by === undefined}
          spellCheck={false}
          placeholder="http://127.0.0.1:11434/v1"
          value={draft.url}
          disabled={locked_by !== undefined}
          onChange={event => onEdit({ url: event.target.value })}
        />
        <Hint>{isOther ? words.baseUrlHint : words.otherUrlHint}</Hint>
      </label>
      {isOther && locked_by === undefined && (
        <div className="app-set-servers" role="group" aria-label={words.servers}>
          {SERVERS.map(([name, url]) => (
            <Button
              key={name}
              className="app-set-small"
              aria-pressed={draft.url === url}
              title={url}
              onClick={() => onEdit({ url })}
            >
              {name}
            </Button>
          ))}
        </div>
      )}
      <Locked
        words={words}
        by={locked_by}
        saved={saved ?? undefined}
        goesAlong={settings.base_url.value === null && locked_by === settings.key.locked_by}
      />
    </>
  )
  if (isOther) return <div className="app-set-group">{field}</div>
  return (
    <details className="app-set-group" open={isOpen} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{words.otherUrl}</summary>
      {field}
    </details>
  )
}

interface KeyProps extends EditProps {
  readonly isBusy: boolean
  readonly onRemove: () => void
}

/** A saved key is never shown again. */
function Key({ settings, draft, words, isBusy, onEdit, onRemove }: KeyProps): ReactElement {
  const { is_set, source, ends_with, variable, locked_by } = settings.key
  const [isReplacing, setReplacing] = useState(false)
  const saved = draftOf(settings, {})
  const isSamePlace = endpointOf(draft) === endpointOf(saved)
  const isSaved = is_set && source === 'page' && isSamePlace
  const { keys, variable: own } = PROVIDERS[draft.provider]
  const provider = words.providers[draft.provider][0]
  const receiver = draft.url.trim() || (keys === undefined ? words.baseUrl : provider)
  if (locked_by !== undefined) {
    return (
      <div className="app-set-group">
        <strong>{words.key}</strong>
        <Locked
          words={words}
          by={locked_by}
          goesAlong={settings.base_url.value !== null && locked_by === settings.base_url.locked_by}
        />
      </div>
    )
  }
  return (
    <div className="app-set-group">
      {isSaved && !isReplacing && draft.key === '' ? (
        <div className="app-set-key">
          <strong>{words.key}</strong>
          <span>{words.keySaved(ends_with)}</span>
          <Button className="app-set-small" onClick={() => setReplacing(true)}>
            {words.replaceKey}
          </Button>
          <Button className="app-set-small" aria-disabled={isBusy} onClick={() => isBusy || onRemove()}>
            {words.removeKey}
          </Button>
        </div>
      ) : (
        <label className="app-set-field">
          <span>{keys === undefined ? words.keyOptional : words.key}</span>
          <input
            className="rs-input"
            type="password"
            autoComplete="off"
            spellCheck={false}
            minLength={8}
            maxLength={500}
            // Only if the person asked for the field.
            autoFocus={isReplacing}
            value={draft.key}
            onChange={event => onEdit({ key: event.target.value })}
          />
        </label>
      )}
      {erasesKey(settings, draft) && (
        <p className="app-set-problem" role="status">
          <TriangleAlert size={15} aria-hidden="true" />{' '}
          {words.erasesKey(saved.url || words.providers[saved.provider][0])}
        </p>
      )}
      {is_set && variable !== undefined && isSamePlace && <Hint>{words.keyOfVariable(variable)}</Hint>}
      <Hint>
        {words.keyHint(receiver)}{' '}
        {keys !== undefined && draft.url.trim() === '' && (
          <a href={keys} target="_blank" rel="noopener noreferrer">
            {words.getKey(provider)} <ExternalLink size={13} aria-hidden="true" />
          </a>
        )}{' '}
        {!is_set && own !== undefined && draft.url.trim() === '' && words.orVariable(own)}
      </Hint>
    </div>
  )
}

function Judge({ settings, draft, words, onEdit }: EditProps): ReactElement {
  const { locked_by, saved } = settings.assessor_model
  const own = PROVIDERS[draft.judgeProvider].variable
  return (
    <fieldset className="app-set-group app-set-judge" disabled={locked_by !== undefined}>
      <legend>{words.judge}</legend>
      <Hint>{words.judgeHint}</Hint>
      <label>
        <input type="radio" name="judge" checked={!draft.hasJudge} onChange={() => onEdit({ hasJudge: false })} />{' '}
        {words.sameJudge}
      </label>
      <label>
        <input
          type="radio"
          name="judge"
          checked={draft.hasJudge}
          onChange={() =>
            onEdit({ hasJudge: true, judgeProvider: draft.judgeProvider === 'demo' ? 'openai' : draft.judgeProvider })
          }
        />{' '}
        {words.otherJudge}
      </label>
      {draft.hasJudge && (
        <div className="app-set-judge-fields">
          <select
            className="rs-input"
            aria-label={`${words.judge}: ${words.provider}`}
            value={draft.judgeProvider}
            onChange={event => onEdit({ judgeProvider: event.target.value as ProviderName })}
          >
            {PROVIDER_NAMES.map(each => (
              <option key={each} value={each}>
                {words.providers[each][0]}
              </option>
            ))}
          </select>
          {draft.judgeProvider !== 'demo' && (
            <input
              className="rs-input"
              required
              autoComplete="off"
              spellCheck={false}
              maxLength={200}
              aria-label={`${words.judge}: ${words.modelName}`}
              placeholder={PROVIDERS[draft.judgeProvider].example}
              value={draft.judgeName}
              onChange={event => onEdit({ judgeName: event.target.value })}
            />
          )}
        </div>
      )}
      {draft.hasJudge && own !== undefined && draft.judgeProvider !== draft.provider && (
        <Hint>{words.judgeKeyHint(own)}</Hint>
      )}
      <Locked words={words} by={locked_by} saved={saved ?? undefined} />
    </fieldset>
  )
}

interface TriedProps {
  readonly tried: TryAnswer
  readonly settings: SettingsView
  readonly words: LaterStrings['settings']
}

function Tried({ tried, settings, words }: TriedProps): ReactElement {
  const strings = usePageStrings()
  if (tried.ok) {
    const seconds = strings.panels.seconds((tried.duration_ms / 1_000).toFixed(1))
    return (
      <p className="app-set-worked" role="status">
        <CircleCheck size={16} aria-hidden="true" /> {words.answered(tried.model, seconds)}
      </p>
    )
  }
  const kind = KINDS[tried.code] ?? 'unknown'
  const [title, todo] = words.failures[kind]
  const lock = settings[SETTING_OF[kind]].locked_by
  return (
    <div className="app-alert app-set-failed" role="alert">
      <strong>{title}</strong>
      {lock === undefined ? <span>{todo}</span> : <Locked words={words} by={lock} />}
      {tried.url !== undefined && !tried.message.includes(tried.url) && <span>{words.tried(tried.url)}</span>}
      <code>{tried.message}</code>
    </div>
  )
}

const KINDS: Readonly<Record<string, keyof LaterStrings['settings']['failures']>> = {
  provider_denied: 'denied',
  provider_unreachable: 'unreachable',
  provider_refused: 'refused',
  provider_busy: 'busy',
  provider_failed: 'busy',
}
const SETTING_OF = {
  denied: 'key',
  unreachable: 'base_url',
  refused: 'model',
  busy: 'model',
  unknown: 'model',
} as const
