;; SPDX-License-Identifier: MIT
;; Emacs' dap-mode drives the debug adapter, as a user does by keys: sets a breakpoint, continues to it, evaluates, steps, steps
;; back, and ends. Prints a line for each stop. dap_test.py runs it: emacs --batch -q -l dap_client.el
;; PYTHON, ADAPTER, PROGRAM, SOURCE: what is started, and the program's source. LINE: where the breakpoint is.
(setq dap-breakpoints-file (make-temp-name (expand-file-name "dap-" temporary-file-directory))
      dap-auto-configure-features nil
      vc-handled-backends nil)
(require 'dap-mode)
(require 'dap-ui) ; dap-mode 0.7 cannot do without it

(defvar client-stops 0)
(defun client-say (&rest words) (princ (concat (apply #'format words) "\n")))
(defun client-wait (what test)
  (with-timeout (100 (client-say "no %s" what) (kill-emacs 1))
    (while (not (funcall test)) (accept-process-output nil 0.05))))
(defun client-frame () (dap--debug-session-active-frame (dap--cur-session)))
(defun client-eval (text)
  "What the debugger answers to the expression TEXT, by dap-mode's own request."
  (let (answer)
    (dap--send-message
     (dap--make-request "evaluate" (list :expression text :frameId (gethash "id" (client-frame)) :context "hover"))
     (lambda (reply) (setq answer (if (gethash "success" reply) (gethash "result" (gethash "body" reply)) (gethash "message" reply))))
     (dap--cur-session))
    (client-wait text (lambda () answer))
    answer))
(add-hook 'dap-stack-frame-changed-hook
          (lambda (session) (when (dap--debug-session-active-frame session) (setq client-stops (1+ client-stops)))))
(defun client-go (what command)
  "Calls COMMAND and reports the next stop."
  (let ((before client-stops))
    (funcall command)
    (client-wait what (lambda () (> client-stops before)))
    (client-say "%s: line %s, %s" what (gethash "line" (client-frame)) (gethash "name" (client-frame)))))

(with-current-buffer (find-file-noselect (getenv "SOURCE"))
  (goto-char (point-min))
  (forward-line (1- (string-to-number (getenv "LINE"))))
  (dap-breakpoint-add))
(client-go "launch"
           (lambda ()
             (dap-start-debugging-noexpand
              (list :type "lab-kernel" :request "launch" :name "kernel" :stopOnEntry :json-false
                    :dap-server-path (list (getenv "PYTHON") (getenv "ADAPTER") "--dap")
                    :program (getenv "PROGRAM")))))
(client-say "tid + s: %s" (client-eval "tid + s"))
(client-say "nothing: %s" (client-eval "nothing"))
(client-go "next" (lambda () (dap-next (dap--cur-session))))
(client-go "continue" (lambda () (dap-continue (dap--cur-session) (dap--debug-session-thread-id (dap--cur-session)))))
(let ((session (dap--cur-session)))
  (dap-disconnect session)
  (client-wait "end" (lambda () (not (process-live-p (dap--debug-session-proc session))))))
(client-say "ended")
