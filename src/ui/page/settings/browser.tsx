import { Volume2 } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import { isSoundOn, playCall, setSound, useNotifying } from '../chat/notifications.ts'
import { Hint, SwitchRow } from './fields.tsx'
import { keep } from '../storage.ts'
import { PLAN_BESIDE } from '../chat/layout.ts'
import { THEME } from '../theme.tsx'
import type { LaterStrings } from '../texts/english-later.ts'
import { usePageStrings } from '../texts/strings.ts'

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
        <button type="button" className="rs-button app-set-small" onClick={listen}>
          <Volume2 size={15} aria-hidden="true" /> {words.playSound}
        </button>
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
