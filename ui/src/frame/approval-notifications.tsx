import { useEffect, useRef, useState } from 'react'
import { SmallButton } from '../parts/buttons/quiet-button.ts'
import { agentTitle, showControls } from '../parts/format.ts'
import { usePendingApprovals } from './status.ts'

/** A browser may have no notifications, for example over plain http. */
const isSupported = typeof Notification !== 'undefined'

/** Shows a desktop notification for each call that begins to wait while the page is not looked at. */
export function useApprovalNotifications(): void {
  const { data } = usePendingApprovals()
  const known = useRef<ReadonlySet<string>>(undefined)
  useEffect(() => {
    if (data === undefined) return
    const before = known.current
    known.current = new Set(data.approvals.map(({ approval_id }) => approval_id))
    // What waited before the page was opened is in the list.
    if (before === undefined || !isSupported || Notification.permission !== 'granted' || !document.hidden)
      return
    for (const { approval_id, agent, what, tool, event, reason } of data.approvals) {
      if (before.has(approval_id)) continue
      // A system shows it on a locked screen, so it has one line of the call and no arguments.
      const title = showControls(`${agentTitle(agent)} wants ${(what ?? tool ?? event).slice(0, 80)}`)
      const shown = new Notification(title, { body: showControls(reason.slice(0, 200)), tag: approval_id })
      shown.onclick = () => {
        window.focus()
        shown.close()
      }
    }
  }, [data])
}

/** Browsers show the question for permission only after a click. */
export function NotifyButton() {
  const [permission, setPermission] = useState(isSupported ? Notification.permission : 'denied')
  if (permission === 'granted') return <span>Desktop notifications are on</span>
  if (permission === 'denied') return null
  return (
    <SmallButton onClick={async () => setPermission(await Notification.requestPermission())}>
      Notify me here
    </SmallButton>
  )
}
