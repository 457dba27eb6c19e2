// Builds into the gateway: plain files of one origin, so that `script-src 'self'` is enough; no address is absolute,
// so that a proxy may put the whole under a path.
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  build: {
    outDir: "../gateway/static",
    emptyOutDir: true,
    target: "es2022",
    assetsDir: "page",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "page/licenses.md" },
    chunkSizeWarningLimit: 1000,
  },
  worker: { format: "es" },
});
