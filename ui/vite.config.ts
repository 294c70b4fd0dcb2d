import react from '@vitejs/plugin-react'
import { defineConfig, type ProxyOptions } from 'vite'

/** `npm run dev:ui` passes requests for data on to this gateway. */
const gateway = process.env.HOOKHELM_URL ?? 'http://127.0.0.1:4665'

/** The gateway answers pages of its own origin only, so those of this server are passed on as such. */
const toGateway: ProxyOptions = {
  target: gateway,
  changeOrigin: true,
  configure(proxy) {
    proxy.on('proxyReq', (passedOn, { headers: { origin, host } }) => {
      if (origin === `http://${host}`) passedOn.setHeader('origin', gateway)
    })
    proxy.on('proxyReqWs', (passedOn, { headers: { origin, host } }) => {
      if (origin === `http://${host}`) passedOn.setHeader('origin', gateway)
    })
  },
}

export default defineConfig({
  base: '/ui/',
  plugins: [react({ jsxImportSource: '#visible' })],
  build: {
    target: 'es2024',
    // The gateway forbids data: addresses for scripts and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: {
      '/v1': toGateway,
      '/login': toGateway,
      '/logout': toGateway,
      '/ws': { ...toGateway, ws: true },
    },
  },
})
