import {
  IconActivity,
  IconAdjustments,
  IconApi,
  IconFileText,
  IconFishHook,
  IconHelpCircle,
  IconHome,
  IconListDetails,
  IconPlayerPlay,
  IconRefresh,
  IconRobot,
  IconShield,
} from '@tabler/icons-react'

/** The views of the app, in the order of the sidebar. `g` and then the key opens one. */
export const navigation = [
  { to: '/', title: 'Home', key: 'h', icon: IconHome },
  { to: '/live', title: 'Live', key: 'l', icon: IconActivity },
  { to: '/sessions', title: 'Sessions', key: 's', icon: IconListDetails },
  { to: '/hooks', title: 'Hooks', key: 'k', icon: IconFishHook },
  { to: '/approvals', title: 'Approvals', key: 'p', icon: IconHelpCircle },
  { to: '/runs', title: 'Runs', key: 'r', icon: IconPlayerPlay },
  { to: '/agents', title: 'Agents', key: 'a', icon: IconRobot },
  { to: '/recovery', title: 'Recovery', key: 'y', icon: IconRefresh },
  { to: '/guards', title: 'Guards', key: 'g', icon: IconShield },
  { to: '/audit', title: 'Audit', key: 'u', icon: IconFileText },
  { to: '/settings', title: 'Settings', key: ',', icon: IconAdjustments },
  { to: '/api', title: 'API', key: 'i', icon: IconApi },
] as const
