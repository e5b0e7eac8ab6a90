import { X } from 'lucide-react'
import { type ReactElement, useId } from 'react'
import { englishCommands } from '../texts/english-commands.ts'
import { ModalDialog } from './modal-dialog.tsx'
import type { PageStrings } from '../texts/page-strings.ts'
import { keysOf } from './shortcuts.ts'

interface KeyboardHelpProps {
  readonly strings: PageStrings
  readonly onClose: () => void
}

export default function KeyboardHelp({ strings, onClose }: KeyboardHelpProps): ReactElement {
  const words = strings.command ?? englishCommands
  const id = useId()
  return (
    <ModalDialog className="app-help" labelledBy={id} onClose={onClose}>
      {close => (
        <>
          <header>
            <h2 id={id}>{words.help}</h2>
            <button type="button" className="rs-icon" aria-label={strings.close} title={strings.close} onClick={close}>
              <X size={18} aria-hidden="true" />
            </button>
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
