import { type ReactElement, useState } from 'react'
import { keep } from '../parts/keep.ts'
import type { PageStrings } from '../texts/page-strings.ts'
import { PLAN_BESIDE } from '../chat/plan-beside.ts'
import { Hint, SwitchRow } from './settings-parts.tsx'
import type { SettingsStrings } from '../texts/english-settings.ts'
import { THEME } from './theme.ts'

const THEMES = ['system', 'light', 'dark'] as const
export type ThemeChoice = (typeof THEMES)[number]

interface DisplayProps {
  readonly strings: PageStrings
  readonly words: SettingsStrings
  readonly onLanguage: () => void
}

export function DisplaySettings({ strings, words, onLanguage }: DisplayProps): ReactElement {
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
