import { Volume2 } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import { isSoundOn, setSound, useNotifying } from '../chat/call-prefs.ts'
import { Hint, SwitchRow } from './settings-parts.tsx'
import type { SettingsStrings } from '../texts/english-settings.ts'
import { playCall } from './sound.ts'

export function CallSettings({ words }: { readonly words: SettingsStrings }): ReactElement {
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
