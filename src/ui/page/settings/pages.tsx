import { Lock, Volume2 } from 'lucide-react'
import { type ReactElement, type ReactNode, useState } from 'react'
import { Button, localeOf, type SettingsHandle } from 'runsheet/react'
import type { SettingsChange, SettingsView, SettingView } from 'runsheet/client'
import { type LaterStrings, useLaterStrings } from '../texts/english-later.ts'
import { keep, THEME } from '../storage.ts'
import { spanText, toolsetName } from '../chat/toolset-choice.tsx'
import { SETTINGS_CHANGED } from '../chat/models.ts'
import { usePageStrings } from '../texts/strings.ts'
import { isSoundOn, playCall, setSound, useNotifying } from '../chat/notifications.ts'
import { PLAN_BESIDE } from '../chat/layout.ts'

interface LockedProps {
  readonly words: LaterStrings['settings']
  readonly by: string | undefined
  /** The value saved by the page, which the option or variable overrides. */
  readonly saved?: string | undefined
  /** Fixed indirectly, together with another setting. */
  readonly goesAlong?: boolean
  readonly id?: string
}

export function Locked({ words, by, saved, goesAlong = false, id }: LockedProps): ReactElement | null {
  if (by === undefined) return null
  return (
    <p className="app-set-locked" {...(id === undefined ? {} : { id })}>
      <Lock size={14} aria-hidden="true" />
      <span>
        {(goesAlong ? words.lockedAlong : by.startsWith('-') ? words.lockedByOption : words.lockedByVariable)(by)}
        {saved !== undefined && ` ${words.savedBelow(saved)}`}
      </span>
    </p>
  )
}

interface SwitchRowProps {
  readonly label: string
  readonly isOn: boolean
  readonly isDisabled?: boolean
  readonly onSwitch: (isOn: boolean) => void
  readonly children?: ReactNode
}

function SwitchRow({ label, isOn, isDisabled = false, onSwitch, children }: SwitchRowProps): ReactElement {
  return (
    <div className="app-set-row">
      <label className="app-set-switch">
        <span>{label}</span>
        <input
          type="checkbox"
          role="switch"
          checked={isOn}
          disabled={isDisabled}
          onChange={event => onSwitch(event.target.checked)}
        />
      </label>
      {children}
    </div>
  )
}

export function Hint({ children }: { readonly children: ReactNode }): ReactElement {
  return <p className="app-set-hint">{children}</p>
}

interface ReviewSettingsProps {
  readonly settings: SettingsView
  readonly handle: SettingsHandle
  readonly words: LaterStrings['settings']
}

const MINUTE = 60_000
const DEADLINES = [2 * MINUTE, 10 * MINUTE, 60 * MINUTE, 24 * 60 * MINUTE, 7 * 24 * 60 * MINUTE]

export function ReviewSettings({ settings, handle, words }: ReviewSettingsProps): ReactElement {
  const strings = usePageStrings()
  const { toolset, review, review_timeout_ms, gate } = settings
  const save = async (change: SettingsChange): Promise<void> => {
    if (await handle.save(change)) keep(SETTINGS_CHANGED, String(Date.now()))
  }
  const reset = (name: 'review' | 'review_timeout_ms' | 'gate', { source, locked_by }: SettingView<unknown>) => (
    <>
      {source === 'file' && <Hint>{words.fromFile}</Hint>}
      {source === 'page' && locked_by === undefined && (
        <button type="button" className="app-set-link" onClick={() => void save({ unset: [name] })}>
          {words.reset}
        </button>
      )}
    </>
  )
  const onOrOff = (saved: boolean | undefined): string | undefined =>
    saved === undefined ? undefined : saved ? words.on : words.off
  const value = review_timeout_ms.value
  const choices = value === null || DEADLINES.includes(value) ? DEADLINES : [...DEADLINES, value].sort((a, b) => a - b)
  return (
    <>
      <div className="app-set-row">
        <p className="app-set-switch">
          <span>{strings.toolset}</span>
          <strong>{toolsetName({ toolset: toolset.value, review: review.value }, useLaterStrings().toolsets)}</strong>
        </p>
        <Hint>{toolset.source === 'file' ? words.fromFile : words.toolsetHint(toolset.locked_by)}</Hint>
      </div>
      <SwitchRow
        label={words.review}
        isOn={review.value}
        isDisabled={review.locked_by !== undefined}
        onSwitch={isOn => void save({ review: isOn })}
      >
        <Hint>{review.value ? words.reviewHint : <strong className="app-set-warn">{words.noReview}</strong>}</Hint>
        <Locked words={words} by={review.locked_by} saved={onOrOff(review.saved)} />
        {reset('review', review)}
      </SwitchRow>
      <div className="app-set-row">
        <label className="app-set-switch">
          <span>{words.deadline}</span>
          <select
            className="rs-input"
            value={String(value)}
            disabled={review_timeout_ms.locked_by !== undefined}
            onChange={({ target }) =>
              void save({ review_timeout_ms: target.value === 'null' ? null : Number(target.value) })
            }
          >
            <option value="null">{words.noDeadline}</option>
            {choices.map(each => (
              <option key={each} value={each}>
                {spanText(each, localeOf(strings.panels))}
              </option>
            ))}
          </select>
        </label>
        <Hint>{words.deadlineHint}</Hint>
        <Locked words={words} by={review_timeout_ms.locked_by} />
        {reset('review_timeout_ms', review_timeout_ms)}
      </div>
      <SwitchRow
        label={words.gate}
        isOn={gate.value}
        isDisabled={gate.locked_by !== undefined}
        onSwitch={isOn => void save({ gate: isOn })}
      >
        <Hint>{words.gateHint}</Hint>
        <Locked words={words} by={gate.locked_by} />
        {reset('gate', gate)}
      </SwitchRow>
      <Hint>{words.newOnly}</Hint>
    </>
  )
}

export function CallSettings({ words }: { readonly words: LaterStrings['settings'] }): ReactElement {
  const { state, turnOn, turnOff } = useNotifying()
  const [isLoud, setLoud] = useState(isSoundOn)
  const listen = (): void => void playCall().catch(() => {})
  return (
    <>
      <SwitchRow
        label={words.notify}
        isOn={state === 'on'}
        isDisabled={state === 'unsupported' || state === 'denied'}
        onSwitch={isOn => (isOn ? void turnOn() : turnOff())}
      >
        <div role="status">
          <Hint>{words.notifyStates[state]}</Hint>
          {state === 'denied' && <Hint>{words.allowSteps}</Hint>}
        </div>
      </SwitchRow>
      <SwitchRow
        label={words.sound}
        isOn={isLoud}
        onSwitch={isOn => {
          setSound(isOn)
          setLoud(isOn)
          if (isOn) listen()
        }}
      >
        <Hint>{words.soundHint}</Hint>
        <Button className="app-set-small" onClick={listen}>
          <Volume2 size={15} aria-hidden="true" /> {words.playSound}
        </Button>
      </SwitchRow>
      <Hint>
        {words.alwaysShown} {words.inBrowser}
      </Hint>
    </>
  )
}

const THEMES = ['system', 'light', 'dark'] as const
type ThemeChoice = (typeof THEMES)[number]

interface DisplayProps {
  readonly words: LaterStrings['settings']
  readonly onLanguage: () => void
}

export function DisplaySettings({ words, onLanguage }: DisplayProps): ReactElement {
  const strings = usePageStrings()
  const [theme, setTheme] = useState(chosenTheme)
  const [isBeside, setBeside] = useState(localStorage.getItem(PLAN_BESIDE) === 'on')
  const { locale } = strings.panels
  return (
    <>
      <div className="app-set-row">
        <label className="app-set-switch">
          <span>{words.language}</span>
          <select className="rs-input" value={locale} onChange={event => event.target.value !== locale && onLanguage()}>
            <option value="en" lang="en">
              English
            </option>
            <option value="zh" lang="zh-Hans">
              简体中文
            </option>
          </select>
        </label>
      </div>
      <fieldset className="app-set-row app-set-themes">
        <legend>{words.theme}</legend>
        {THEMES.map(each => (
          <label key={each}>
            <input
              type="radio"
              name="theme"
              checked={each === theme}
              onChange={() => {
                applyTheme(each)
                setTheme(each)
              }}
            />
            <span>{words.themes[each]}</span>
          </label>
        ))}
      </fieldset>
      <SwitchRow
        label={words.planBeside}
        isOn={isBeside}
        onSwitch={isOn => {
          keep(PLAN_BESIDE, isOn ? 'on' : 'off')
          setBeside(isOn)
        }}
      >
        <Hint>{words.planBesideHint}</Hint>
      </SwitchRow>
      <Hint>{words.inBrowser}</Hint>
    </>
  )
}

function chosenTheme(): ThemeChoice {
  const chosen = localStorage.getItem(THEME)
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system'
}

function applyTheme(theme: ThemeChoice): void {
  keep(THEME, theme === 'system' ? null : theme)
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}
