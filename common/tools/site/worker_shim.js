// SPDX-License-Identifier: MIT
// A page opened from a disk may start no Worker, and the search runs in one. Here a hidden frame stands in for it. The search asks
// for `IFrameWorker` by that name.
(() => {
  if (location.protocol !== 'file:') return;
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.url = new URL(url, location.href).href;
      this.waiting = [];
      const frame = document.createElement('iframe');
      frame.hidden = true;
      frame.title = 'Search';
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => {
        const event = new MessageEvent('message', { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      this.inside.importScripts = (...urls) => urls.reduce((before, one) => before.then(() => this.load(one)), Promise.resolve());
      this.load(this.url).then(() => {
        this.ready = true;
        for (const data of this.waiting.splice(0)) this.deliver(data);
      });
    }

    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.inside.document.createElement('script');
        script.src = new URL(url, this.url);
        script.onload = resolve;
        script.onerror = reject;
        this.inside.document.body.append(script);
      });
    }

    deliver(data) {
      this.inside.dispatchEvent(new this.inside.MessageEvent('message', { data }));
    }

    postMessage(data) {
      if (this.ready) this.deliver(data);
      else this.waiting.push(data);
    }

    terminate() {}
  };
  window.Worker = window.IFrameWorker;
})();
